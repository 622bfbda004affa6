"""Rows of other machines or groups in a study's table: held against the data here, and refused with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from baselines import methods
from npt.interface import UserError
from workflow.config import parse_seeds

Expected = Mapping[str, Mapping[str, str]]  # runs, as dataset/method/variant, to their seeds and fingerprint
Row = dict[str, Any]


def with_source(rows: Iterable[Row], also: Iterable[str]) -> list[Row]:
    """Rows that say which folder of another machine they come from: none for those made here."""
    folders = {folder: Path(folder).expanduser() for folder in also}
    return [
        {**row, "source": next((name for name, folder in folders.items() if Path(row["file"]).is_relative_to(folder)), "")}
        for row in rows
    ]


def require_same_data(rows: Iterable[Row], data: Iterable[Path]) -> None:
    """Refuse rows whose table or folds are not those of the prepared datasets.

    Raises:
        UserError: names the file, what it was made with and what is here.
    """
    from npt.datasets import store

    here = {path.stem: store.load(path, check=False).facts for path in data}
    for row in rows:
        facts = here.get(row["dataset"])
        for column, key in (("data", "content"), ("splits", "splits")):
            if facts and row.get(column) != (own := facts[key][:16]):
                raise UserError(f"{row['file']}: made with other {column} ({row.get(column)}, here {own}); {remedy(row)}")


def foreign(rows: Iterable[Row], expected: Expected) -> list[Row]:
    """Rows of methods that are not known here, on the datasets and seeds of a study.

    Raises:
        UserError: such a method lacks a dataset or a fold of the study, has one twice, or failed without a reason.
    """
    wanted: dict[str, set[int]] = {}
    for run, facts in expected.items():
        wanted.setdefault(run.partition("/")[0], set()).update(parse_seeds(facts["seeds"], run) or ())
    found: dict[tuple[str, str], dict[tuple[str, int], Row]] = defaultdict(dict)
    for row in rows:
        if row["method"] in methods() or row["seed"] not in wanted.get(row["dataset"], ()):
            continue
        own, place = found[row["method"], row["variant"]], (row["dataset"], row["seed"])
        if place in own:
            raise UserError(
                f"{row['file']}: {row['method']} on {row['dataset']}, fold {row['seed']}, is in {own[place]['file']} too"
            )
        require_reason(row)
        own[place] = row
    for (method, variant), own in found.items():
        missing = [(dataset, seed) for dataset, seeds in wanted.items() for seed in sorted(seeds) if (dataset, seed) not in own]
        if missing:
            folder, (dataset, seed) = next(iter(own.values()))["source"], missing[0]
            raise UserError(
                f"{folder}: {method} ({variant}) lacks fold {seed} of {dataset}, which the study shows; a method stands in a "
                "table with all of its datasets and folds, so give it a study of those that it has"
            )
    return [row for own in found.values() for row in own.values()]


def require_reason(row: Row) -> None:
    """Refuse a row without a result that does not say why."""
    if row["status"] != "ok" and not row["reason"]:
        raise UserError(f"{row['file']}: fold {row['seed']} is {row['status']} without a reason")


def remedy(row: Row) -> str:
    """What can be done about a row that is refused."""
    return "take it out of that folder" if row.get("source") else "remove it and run again"
