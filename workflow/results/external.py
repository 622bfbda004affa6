"""Rows of other machines or groups in a study's table: held against what is here, and refused with the reason."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from baselines import methods
from npt.interface import UserError
from npt.metrics import METRICS
from npt.table import Task
from workflow.config.folds import parse_folds

Expected = Mapping[
    str, Mapping[str, str]
]  # runs, as dataset/method/variant, to their folds and fingerprint
Row = dict[str, Any]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+ -]{0,63}$")]
Amount = Annotated[float, Field(ge=0)]
OURS = ("study", "source", "changes")  # columns that a table adds


class Elsewhere(BaseModel):
    """What a row that was made elsewhere must say, and the types of what it may say."""

    model_config = ConfigDict(strict=True, extra="allow")

    dataset: Name
    task: Task
    method: Name
    variant: Name
    fold: Annotated[int, Field(ge=0)]
    status: Literal["ok", "failed", "skipped"]
    reason: str
    preset: str
    fingerprint: str
    revision: str
    data: str
    splits: str
    versions: dict[str, str] | None = None
    chosen: dict[str, Any] | None = None
    device: str | None = None
    validation_loss: float | None = None
    train_rows: Annotated[int, Field(gt=0)] | None = None
    validation_rows: Annotated[int, Field(gt=0)] | None = None
    test_rows: Annotated[int, Field(gt=0)] | None = None
    threads: Amount | None = None
    grid: Amount | None = None
    configurations: Amount | None = None
    models: Amount | None = None
    failed_configurations: Amount | None = None
    fits: Amount | None = None
    fit_seconds: Amount | None = None
    predict_seconds: Amount | None = None
    peak_memory_mb: Amount | None = None
    peak_gpu_memory_mb: Amount | None = None


def with_source(rows: Iterable[Row], also: Iterable[str]) -> list[Row]:
    """Rows that say which folder of another machine they come from: none for those made here."""
    folders = {folder: Path(folder).expanduser() for folder in also}
    return [
        {
            **row,
            "source": next(
                (
                    name
                    for name, folder in folders.items()
                    if Path(row["file"]).is_relative_to(folder)
                ),
                "",
            ),
        }
        for row in rows
    ]


def require_sound(rows: Iterable[Row], data: Iterable[Path]) -> None:
    """Refuse rows that were made elsewhere and are not what they should be, or not of the prepared datasets.

    Raises:
        UserError: names the file, what it has and what is allowed or here.
    """
    from npt.data import store

    here = {path.stem: store.load(path, check=False) for path in data}
    for row in rows:
        if not row["source"]:
            continue
        _require_types(row)
        prepared = here.get(row["dataset"])
        if prepared is None:
            continue
        facts = {
            "task": prepared.table.task,
            "data": prepared.facts["content"][:16],
            "splits": prepared.facts["splits"][:16],
        }
        for column, own in facts.items():
            if row[column] != own:
                raise UserError(
                    f"{row['file']}: made with other {column} ({row[column]}, here {own}); {remedy(row)}"
                )
        if row["status"] == "ok":
            _require_metrics(row)


def _require_types(row: Row) -> None:
    try:
        Elsewhere.model_validate(
            {key: value for key, value in row.items() if key not in ("file", "source")}
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        found = "" if first["type"] == "missing" else f" {first['input']!r}:"
        raise UserError(f"{row['file']}: {place}:{found} {first['msg']}") from None
    if own := [name for name in OURS if name in row and name != "source"]:
        raise UserError(
            f"{row['file']}: {own[0]}: a column of this name is the table's; {remedy(row)}"
        )
    titles = {method.title.casefold() for method in methods().values()} | {
        "method",
        "variant",
        "dataset",
    }
    if row["method"] not in methods() and row["method"].casefold() in titles:
        raise UserError(
            f"{row['file']}: method: {row['method']!r} is what another is called here; give it a name of its own"
        )


def _require_metrics(row: Row) -> None:
    """A result has a finite number for some metric of its task, and none out of its range."""
    known = [f"test_{name}" for name, metric in METRICS.items() if row["task"] in metric.tasks]
    for name in known:
        value = row.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UserError(f"{row['file']}: {name}: {value!r} is not a number")
        if name in ("test_accuracy", "test_auroc") and not (0 <= value <= 1 or math.isnan(value)):
            raise UserError(f"{row['file']}: {name}: {value!r} is not a share from 0 to 1")
    if not any(row.get(name) is not None and math.isfinite(row[name]) for name in known):
        raise UserError(
            f"{row['file']}: fold {row['fold']} is ok and has none of {', '.join(known)}"
        )


def foreign(rows: Iterable[Row], expected: Expected, *, mixed: bool = False) -> list[Row]:
    """Rows of methods that are not known here, on the datasets and folds of a study.

    Raises:
        UserError: such a method lacks a dataset or a fold of the study, has one twice, failed without a reason, or is of
            several revisions, unless they may be `mixed`.
    """
    wanted: dict[str, set[int]] = {}
    for run, facts in expected.items():
        wanted.setdefault(run.partition("/")[0], set()).update(
            parse_folds(facts["folds"])
        )
    found: dict[tuple[str, str], dict[tuple[str, int], Row]] = defaultdict(dict)
    for row in rows:
        if row["method"] in methods() or row["fold"] not in wanted.get(row["dataset"], ()):
            continue
        own, place = found[row["method"], row["variant"]], (row["dataset"], row["fold"])
        if place in own:
            raise UserError(
                f"{row['file']}: {row['method']} on {row['dataset']}, fold {row['fold']}, is in {own[place]['file']} too"
            )
        require_reason(row)
        own[place] = row
    for (method, variant), own in found.items():
        missing = [
            (dataset, fold)
            for dataset, folds in wanted.items()
            for fold in sorted(folds)
            if (dataset, fold) not in own
        ]
        folder = next(iter(own.values()))["source"]
        if missing:
            dataset, fold = missing[0]
            raise UserError(
                f"{folder}: {method} ({variant}) lacks fold {fold} of {dataset}, which the study shows; a method stands in a "
                "table with all of its datasets and folds, so give it a study of those that it has"
            )
        revisions = sorted({row["revision"] for row in own.values()})
        if len(revisions) > 1 and not mixed:
            raise UserError(
                f"{folder}: {method} ({variant}) is of several revisions: {', '.join(revisions)}"
            )
    return [row for own in found.values() for row in own.values()]


def require_reason(row: Row) -> None:
    """Refuse a row without a result that does not say why."""
    if row["status"] != "ok" and not row["reason"]:
        raise UserError(f"{row['file']}: fold {row['fold']} is {row['status']} without a reason")


def remedy(row: Row) -> str:
    """What can be done about a row that is refused."""
    return "take it out of that folder" if row.get("source") else "remove it and run again"
