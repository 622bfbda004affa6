"""Lines that describe how the columns of a custom dataset were read."""

from __future__ import annotations

import numpy as np

from npt.data.custom.dataset import CustomDataset
from npt.data.custom.formats import Content
from npt.table import Column, Table
from npt.wording import listed


def described(dataset: CustomDataset, table: Table, content: Content) -> tuple[str, ...]:
    """Size, task, column types, missing cells, dates and columns left out: a line each."""
    features = [table.columns[j] for j in table.features]
    continuous = [column.name for column in features if column.kind == "continuous"]
    categorical = [_with_size(column) for column in features if column.kind == "categorical"]
    left_out = [*dataset.drop, *filter(None, (dataset.group, dataset.time)), *content.index]
    dates = [name for name in content.dates if name not in left_out]
    lines = [
        f"{dataset.name}: {table.rows:,} rows, {len(features):,} features, {_task(table)}",
        f"continuous: {listed(continuous)}",
        f"categorical: {listed(categorical)}",
        f"missing cells: {listed(_missing_cells(table))}",
    ]
    if dates:
        lines.append(f"dates, as seconds: {listed(dates)}")
    if left_out:
        lines.append(f"left out: {listed(left_out)}")
    return tuple(lines)


def _task(table: Table) -> str:
    target = table.columns[table.target]
    task = f"{table.task} of {target.name}"
    if not target.levels:
        return task
    return f"{task} ({target.size} classes: {listed(target.levels)})"


def _with_size(column: Column) -> str:
    return f"{column.name} ({column.size})"


def _missing_cells(table: Table) -> list[str]:
    columns = []
    for j, column in enumerate(table.columns):
        count = int(np.isnan(table.numbers(j)).sum())
        if count:
            columns.append(f"{column.name} {count:,}")
    return columns
