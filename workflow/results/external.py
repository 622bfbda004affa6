"""External results: rows of methods that a study does not run, from csv files."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from npt.data.store import Prepared
from npt.errors import UserError, unknown
from npt.metrics import METRICS
from workflow.results.requirements import planned_data, require
from workflow.results.row import Row, sizes
from workflow.results.study_file import CHECKSUM, parse_row

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+ -]{0,63}")
REQUIRED = ("dataset", "method", "fold")
DatasetFold = tuple[str, int]


def external_rows(
    path: Path, prepared: Mapping[str, Prepared], folds: Iterable[DatasetFold]
) -> list[Row]:
    """Rows of a csv file on the datasets and folds of a study.

    A line has dataset, method and fold, optionally variant and seed, and metrics of the test rows.
    Lines of a collected study have more, but for those that were external there.

    Raises:
        UserError: names the file, the line and the column, or a method without all of the folds.
    """
    needed = dict.fromkeys(folds)  # an ordered set
    rows: list[Row] = []
    for number, cells in _lines(path):
        where = f"{path}:{number}"
        for column in REQUIRED:
            if column not in cells:
                raise UserError(f"{where}.{column}: empty")
        if not NAME.fullmatch(cells["method"]):
            raise UserError(f"{where}.method: {cells['method']!r}; allowed: {NAME.pattern}")
        dataset = cells["dataset"]
        if cells.pop("source", "") or dataset not in prepared:
            continue
        defaults = {
            "variant": "base",
            "status": "ok",
            "task": prepared[dataset].table.task,
        }
        row = parse_row(defaults | cells, where)
        if (dataset, row.fold) in needed:
            rows.append(_checked(row, prepared[dataset], where))
    _require_folds(rows, list(needed), path)
    return [row.changed({"source": str(path)}) for row in rows]


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line numbers and cells that are not empty, by column; metrics have the prefix `test_`."""
    allowed = {"study", *Row.model_fields, *METRICS}
    for name in METRICS:
        allowed |= {f"test_{name}", f"validation_{name}"}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True, restval="")
            header = reader.fieldnames or []
            for column in [*header, *REQUIRED]:
                if column not in allowed and not column.startswith(CHECKSUM):
                    raise UserError(f"{path}: {unknown(column, sorted(allowed))}")
                if header.count(column) != 1:
                    raise UserError(f"{path}: {header.count(column)} columns {column}; 1 is needed")
            for cells in reader:
                if None in cells:
                    raise UserError(f"{path}:{reader.line_num}: more cells than columns")
                cells.pop("study", None)
                filled: dict[str, str] = {}
                for column, cell in cells.items():
                    if cell.strip():
                        filled[f"test_{column}" if column in METRICS else column] = cell.strip()
                yield reader.line_num, filled
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a csv file in UTF-8 ({error})") from None


def _checked(row: Row, prepared: Prepared, where: str) -> Row:
    """The row with the sizes of its fold, if its data and its metrics are valid."""
    if row.data:
        require(row, planned_data(prepared), where)
    metrics = [metric for metric in METRICS.values() if row.task in metric.tasks]
    scores: dict[str, Any] = {}
    for metric in metrics:
        column = f"test_{metric.name}"
        value = row.facts.get(column)
        if value is None:
            continue
        scores[column] = value
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 <= value <= metric.maximum):
            raise UserError(f"{where}.{column}: {value!r}; allowed: 0 to {metric.maximum:g}")
    if row.status == "ok" and not scores:
        names = ", ".join(metric.name for metric in metrics)
        raise UserError(f"{where}: no metric; {row.task} has {names}")
    if row.train_rows is None:
        return row.changed(sizes(prepared.splits[row.fold]))
    return row


def _require_folds(rows: Iterable[Row], needed: list[DatasetFold], path: Path) -> None:
    """Every variant of a method has every fold of every dataset once, with each of its seeds."""
    folds_by_variant: dict[tuple[str, str, int], list[DatasetFold]] = {}
    for row in rows:
        variant = (row.method, row.variant, row.seed)
        folds_by_variant.setdefault(variant, []).append((row.dataset, row.fold))
    if not folds_by_variant:
        raise UserError(f"{path}: has no row on the datasets and folds of the study")
    for (method, variant, seed), folds in folds_by_variant.items():
        for dataset, fold in needed:
            count = folds.count((dataset, fold))
            if count != 1:
                raise UserError(
                    f"{path}: {count} rows of {method} ({variant}) with seed {seed} on {dataset} "
                    f"fold {fold}; 1 is needed"
                )
