"""External results: rows of methods that a study does not run, from csv files."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from npt.data.store import Prepared
from npt.errors import UserError, require_known
from npt.metrics import METRICS, metrics_of
from npt.validation import user_error
from workflow.results.job import data_columns
from workflow.results.row import Row, sizes
from workflow.results.study_file import read_study

REQUIRED = ("dataset", "method", "fold")
NESTED = ("versions", "chosen")  # columns of JSON
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
    rows = []
    for number, cells in enumerate(_frame(path).to_dict("records"), start=2):
        dataset = cells["dataset"]
        if dataset not in prepared or not pd.isna(cells.get("source")):
            continue
        values = {str(name): cell for name, cell in cells.items() if not pd.isna(cell)}
        row = _row(values, prepared[dataset], f"{path}:{number}")
        if (dataset, row.fold) in needed:
            rows.append(row.changed({"source": str(path)}))
    if not rows:
        raise UserError(f"{path}: has no row on the datasets and folds of the study")
    counts = Counter(((row.method, row.variant, row.seed), row.dataset, row.fold) for row in rows)
    variants = dict.fromkeys(variant for variant, _, _ in counts)
    for variant, (dataset, fold) in product(variants, needed):
        count = counts[variant, dataset, fold]
        if count != 1:
            method, name, seed = variant
            raise UserError(
                f"{path}: {count} rows of {method} ({name}) with seed {seed} on {dataset} "
                f"fold {fold}; 1 is needed"
            )
    return rows


def _frame(path: Path) -> pd.DataFrame:
    """Lines of a file with known columns; metrics have the prefix `test_`."""
    frame = read_study(path)
    if not isinstance(frame.index, pd.RangeIndex):
        raise UserError(f"{path}: more cells than columns")
    allowed = {"study", *Row.model_fields, *METRICS}
    for name in METRICS:
        allowed |= {f"test_{name}", f"validation_{name}"}
    for column in map(str, frame):
        require_known(column, sorted(allowed), str(path))
    for column in REQUIRED:
        if column not in frame:
            raise UserError(f"{path}: column {column} is missing")
    frame = frame.drop(columns="study", errors="ignore")
    frame = frame.rename(columns={name: f"test_{name}" for name in METRICS})
    for column in frame.columns[frame.columns.duplicated()]:
        raise UserError(f"{path}: {column} and {column.removeprefix('test_')}; one is allowed")
    return frame


def _row(cells: dict[str, Any], prepared: Prepared, where: str) -> Row:
    """The row of a line, if its data and its metrics are valid, with the sizes of its fold."""
    defaults = {"variant": "base", "status": "ok", "task": prepared.table.task}
    try:
        nested = {name: json.loads(str(cells[name])) for name in NESTED if name in cells}
        row = Row.model_validate({**defaults, **cells, **nested}, strict=False)
    except ValidationError as error:
        raise user_error(error, Row, where) from None
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None
    planned = data_columns(prepared)
    row.require(planned if row.data else {"task": planned["task"]}, where)
    metrics = metrics_of(row.task)
    measured = [metric for name, metric in metrics.items() if f"test_{name}" in row.facts]
    for metric in measured:
        value = row.facts[f"test_{metric.name}"]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and metric.minimum <= value <= metric.maximum and abs(value) < math.inf):
            key = f"{where}.test_{metric.name}"
            most = "" if metric.maximum == math.inf else f" to {metric.maximum:g}"
            raise UserError(f"{key}: {value!r}; allowed: numbers from {metric.minimum:g}{most}")
    if row.status == "ok" and not measured:
        raise UserError(f"{where}: no metric; {row.task} has {', '.join(metrics)}")
    if row.train_rows is None and row.fold in prepared.splits:
        return row.changed(sizes(prepared.splits[row.fold]))
    return row
