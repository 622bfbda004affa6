"""External results: results folders of other machines, and plain csv files of other methods."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import Field

from baselines import methods
from npt.data.store import Prepared
from npt.interface import UserError, unknown
from npt.metrics import METRICS
from npt.validation import Strict, validated
from workflow.results.row import Key, Row

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.+ -]{0,63}$"
RESERVED = ("study", "method", "variant", "dataset")  # columns of tables
FRACTIONS = ("accuracy", "auroc")


class CsvLine(Strict, strict=False):
    """Identity of a line of a csv file; the other columns are metrics of the test rows."""

    dataset: str
    method: str = Field(pattern=NAME)
    variant: str = Field("base", pattern=NAME)
    fold: int = Field(ge=0)
    seed: int = Field(0, ge=0)


def read_csv(path: Path, prepared: Mapping[str, Prepared]) -> list[Row]:
    """Rows of a plain csv file: dataset, method, fold, and a column per metric of the test rows.

    Lines of datasets that are not prepared are left out.

    Raises:
        UserError: names the file, the line and the column.
    """
    try:
        with path.expanduser().open(encoding="utf-8-sig", newline="") as stream:
            lines = list(csv.DictReader(stream))
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    rows = []
    for number, line in enumerate(lines, 2):
        row = _csv_row(line, f"{path}:{number}", prepared)
        if row is not None:
            rows.append(row)
    return rows


def _csv_row(
    line: Mapping[str | None, str | None], where: str, prepared: Mapping[str, Prepared]
) -> Row | None:
    if None in line or None in line.values():
        raise UserError(f"{where}: not as many cells as columns")
    cells = {str(name).strip(): str(cell).strip() for name, cell in line.items()}
    identity_cells = {name: cells[name] for name in CsvLine.model_fields if cells.get(name)}
    identity = validated(CsvLine, identity_cells, where)
    metrics = {name: cell for name, cell in cells.items() if name not in CsvLine.model_fields}
    for name in metrics:
        if name not in METRICS:
            raise UserError(f"{where}: {unknown(name, [*CsvLine.model_fields, *METRICS])}")
    if identity.dataset not in prepared:
        return None
    task = prepared[identity.dataset].table.task
    scores = {f"test_{name}": _number(cell, f"{where}.{name}") for name, cell in metrics.items()}
    known = {name: value for name, value in scores.items() if value is not None}
    columns = {**identity.model_dump(), "task": task, "status": "ok", "reason": "", **known}
    row = validated(Row, columns, where)
    require_own_name(row, where)
    require_metrics(row, where)
    return row


def _number(cell: str, where: str) -> float | None:
    try:
        return float(cell) if cell else None
    except ValueError:
        raise UserError(f"{where}: {cell!r} is not a number") from None


def require_own_name(row: Row, where: str) -> None:
    """Raise `UserError` for a method that has the name or the title of one of this project."""
    taken = {*methods(), *(method.title.casefold() for method in methods().values())}
    if row.method.casefold() in taken or row.method.casefold() in RESERVED:
        raise UserError(f"{where}.method: {row.method!r} is taken; give it another name")


def require_metrics(row: Row, where: str) -> None:
    """Raise `UserError` for a finished row without a finite metric, or with one out of range."""
    if row.status != "ok":
        return
    names = [f"test_{name}" for name, metric in METRICS.items() if row.task in metric.tasks]
    values = {name: row.facts[name] for name in names if row.facts.get(name) is not None}
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UserError(f"{where}.{name}: {value!r} is not a number")
        if name.removeprefix("test_") in FRACTIONS and not (0 <= value <= 1 or math.isnan(value)):
            raise UserError(f"{where}.{name}: {value!r} is not a fraction from 0 to 1")
    if not any(math.isfinite(value) for value in values.values()):
        raise UserError(f"{where}: fold {row.fold} has none of {', '.join(names)}")


def complete_methods(rows: Iterable[Row], folds: Iterable[tuple[str, int]]) -> list[Row]:
    """The rows of methods that have all datasets and folds of a study.

    Args:
        rows: Rows of methods that are unknown here.
        folds: Dataset and fold of every row that the study needs.

    Raises:
        UserError: a method lacks a dataset or a fold, or has it twice.
    """
    needed = list(dict.fromkeys(folds))
    by_variant: dict[tuple[str, str], dict[Key, Row]] = defaultdict(dict)
    for row in rows:
        if (row.dataset, row.fold) not in needed:
            continue
        variant_rows = by_variant[row.method, row.variant]
        if row.key in variant_rows:
            raise UserError(f"{row.source}: {row.run_key} has fold {row.fold} twice")
        variant_rows[row.key] = row
    for (method, variant), variant_rows in by_variant.items():
        present = {(row.dataset, row.fold) for row in variant_rows.values()}
        source = next(iter(variant_rows.values())).source
        for dataset, fold in needed:
            if (dataset, fold) not in present:
                raise UserError(
                    f"{source}: {method} ({variant}) lacks fold {fold} of {dataset}; "
                    "external methods need all datasets and folds of a study"
                )
    return [row for variant_rows in by_variant.values() for row in variant_rows.values()]
