"""External results: results folders of other machines, and plain csv files of other methods."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, create_model

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
    return validated(Row, columns, where)


def _number(cell: str, where: str) -> float | None:
    try:
        return float(cell) if cell else None
    except ValueError:
        raise UserError(f"{where}: {cell!r} is not a number") from None
