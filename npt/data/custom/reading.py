"""Read, check and split a custom dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from npt.data.custom.cells import Form, typed
from npt.data.custom.checks import (
    check_copies,
    check_known_targets,
    check_names,
    check_roles,
    check_target,
)
from npt.data.custom.dataset import CustomDataset
from npt.data.custom.description import described, doubts
from npt.data.custom.formats import Content, read_openml, read_source
from npt.data.custom.openml_task import pairs_of, read_task
from npt.data.frames import Feature, FeatureKind
from npt.data.preparation import prepared
from npt.data.splits import splits
from npt.data.store import Prepared
from npt.errors import UserError, errors_at
from npt.table import Table

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", "<NA>")
NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}  # exact beside missing


@dataclass(frozen=True)
class CustomTable:
    """A custom dataset that was read.

    Attributes:
        split_by: `times` (N,) and `pairs` of rows, as `splits` takes them.
        origin: Facts of its file, and `description`: how the columns were read.
    """

    table: Table
    split_by: dict[str, Any]
    origin: dict[str, Any]


def prepare_custom(dataset: CustomDataset, downloads: Path) -> Prepared:
    """Read, check and split a custom dataset; the errors are those of the two steps."""
    return split_custom(dataset, read_custom(dataset, downloads))


def split_custom(dataset: CustomDataset, custom: CustomTable) -> Prepared:
    """A table with its folds.

    Raises:
        UserError: There are too few rows, groups, times or known targets.
    """
    with errors_at(dataset.location):
        folds = splits(custom.table, dataset.split_rule, **custom.split_by)
        for split in folds:
            check_known_targets(custom.table, split)
    return prepared(dataset, custom.table, folds, **custom.origin)


def read_custom(dataset: CustomDataset, downloads: Path) -> CustomTable:
    """Read and check a custom dataset.

    Raises:
        UserError: The file, and what is wrong with it.
    """
    with errors_at(dataset.location):
        pairs = None
        if dataset.openml_task is None:
            content = read_source(dataset, downloads)
        else:
            number, task = read_task(dataset.openml_task, downloads, dataset.target, dataset.task)
            content = read_openml(number, downloads)
            pairs = pairs_of(task, content.table.num_rows, dataset.folds)
        usual = MISSING if content.is_text else ()
        form = Form((*usual, *dataset.missing), dataset.decimal, content.is_text)
        groups = times = None
        features = []
        cells = []
        words = {}
        for name, series in _columns(dataset, content).items():
            kind = _kind(dataset, name)
            series, words[name] = typed(series, name, kind, form)
            if name == dataset.group:
                _require_known(series, f"group: {name!r}")
                groups, _ = pd.factorize(series)
                continue
            feature = Feature.from_series(series, name)
            if name == dataset.time:
                _require_known(series, f"time: {name!r}")
                if feature.kind == "category":
                    raise UserError(f"time: {name!r} is not a number or a date in every row")
                times = feature.cells(series).astype(np.float64)
                continue
            assert kind != "number" or not feature.levels
            features.append(feature)
            cells.append(feature.cells(series))
        names = [feature.name for feature in features]
        if len(names) < 2:
            raise UserError(f"has no feature, only the target {dataset.target!r}")
        table = Table(
            tuple(feature.column for feature in features),
            tuple(cells),
            names.index(dataset.target),
            groups=groups,
        )
        check_target(table, dataset.task)
        check_copies(table)
        if dataset.test_rows >= table.rows:
            raise UserError(f"test_rows: {dataset.test_rows} leaves none of the {table.rows} rows")
    left_out = [name for name in map(str.strip, content.names) if name and name not in names]
    file = Path(dataset.path).name or dataset.location
    origin = {
        "files": {file: content.sha256},
        "origins": {file: "your own" if dataset.path else "OpenML"},
        "description": [
            *described(dataset.name, table, features, words, left_out, dataset.group),
            *doubts(table, features),
        ],
    }
    return CustomTable(table, {"times": times, "pairs": pairs}, origin)


def _columns(dataset: CustomDataset, content: Content) -> dict[str, pd.Series]:
    """Columns by name, without those that are left out."""
    names = [name.strip() for name in content.names]
    check_names(names)
    check_roles(dataset, names)
    if not content.table.num_rows:
        raise UserError("has a header and no rows")
    used = {dataset.target, dataset.group, dataset.time}
    columns = {}
    unnamed = []
    for j, (name, column) in enumerate(zip(names, content.table.columns, strict=True)):
        if name in dataset.drop or name in set(content.index) - used:
            continue
        if name:
            columns[name] = _series(name, column, name in content.categories)
        elif not set(column.unique().to_pylist()) <= {None, "", b""}:  # spreadsheets leave those
            unnamed.append(str(j + 1))
    if unnamed:
        raise UserError(
            f"column '' has no name (number {', '.join(unnamed)}); put '' under `drop` (a saved "
            "index?), or name it"
        )
    return columns


def _series(name: str, column: pa.ChunkedArray, is_category: bool) -> pd.Series:
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        try:
            column = column.cast(pa.large_string())
        except pa.ArrowInvalid:
            raise UserError(
                f"column {name!r} holds bytes that are not UTF-8 text; save the file as UTF-8, or "
                "put the column under `drop`"
            ) from None
    if pa.types.is_nested(column.type):
        raise UserError(f"column {name!r} holds {column.type}; put it under `drop`")
    series = column.to_pandas(types_mapper=NULLABLE.get).reset_index(drop=True)
    return series.astype("category") if is_category else series


def _kind(dataset: CustomDataset, name: str) -> FeatureKind | None:
    """What the cells of a column must be; None if they tell."""
    if name == dataset.target:
        return "number" if dataset.task == "regression" else "category"
    if name == dataset.time:
        return "date"
    if name in (*dataset.categorical, dataset.group):
        return "category"
    return "number" if name in dataset.continuous else None


def _require_known(series: pd.Series, where: str) -> None:
    missing = series.isna().to_numpy()
    if missing.any():
        raise UserError(
            f"{where} is missing in {missing.sum()} rows, first in row {missing.argmax() + 1}"
        )
