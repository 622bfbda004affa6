"""Lines that describe how the columns of a custom dataset were read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from npt.data.custom.dataset import CustomDataset
from npt.data.custom.formats import Content
from npt.table import Column, Table

SHOWN_NAMES = 20
FEW_VALUES = 10  # of whole numbers that may be classes
MANY_LEVELS = 100
FEWEST_COUNTED = 20  # rows
BLOCK_ROWS = 10_000


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
    return (*lines, *_questions(table, content))


def _questions(table: Table, content: Content) -> Iterator[str]:
    """What a person should look at: a line for each kind of doubt."""
    constant, numbered, few = [], [], []
    for j in table.features:
        column = table.columns[j]
        values = table.numbers(j)
        known = values[~np.isnan(values)]
        different = len(np.unique(known))
        if different <= 1:
            constant.append(column.name)
        elif column.name in content.dates:
            continue
        elif column.kind == "continuous" and _are_whole(known):
            if _count_rows(known):
                numbered.append(column.name)
            elif different <= FEW_VALUES:
                few.append(f"{column.name} ({different})")
    many = []
    for j in table.features:
        column = table.columns[j]
        if column.size > MANY_LEVELS:
            many.append(_with_size(column))
    equal = _equal_rows(table)
    doubts = {
        "constant": constant,
        "row numbers or identifiers? Then put them under `drop`": numbered,
        "whole numbers with few values; are they classes? Then put them under `categorical`": few,
        f"categories with many levels in {table.rows:,} rows": many,
        "under `missing`, but in no cell": content.unused,
    }
    for doubt, names in doubts.items():
        if names:
            yield f"{doubt}: {listed(names)}"
    if equal:
        yield (
            f"rows that equal another one: {equal:,}; they may be on both sides of a fold, unless "
            "a column under `group` keeps them together"
        )


def _are_whole(values: np.ndarray) -> bool:
    return bool((values % 1 == 0).all())


def _count_rows(values: np.ndarray) -> bool:
    """Whether whole numbers (n,) are all different and as dense as row numbers, or rise."""
    steps = np.diff(values)
    if len(values) < FEWEST_COUNTED:
        return False
    all_different = len(np.unique(values)) == len(values)
    dense = np.ptp(values) <= 2 * len(values)
    return bool((all_different and dense) or (steps > 0).all() or (steps < 0).all())


def _equal_rows(table: Table) -> int:
    """Number of rows whose cells are all those of another row."""
    digests: dict[bytes, int] = {}
    for start in range(0, table.rows, BLOCK_ROWS):
        block = np.ascontiguousarray(table.block(slice(start, start + BLOCK_ROWS)))
        for row in block:
            digest = row.tobytes()
            digests[digest] = digests.get(digest, 0) + 1
    return sum(count for count in digests.values() if count > 1)


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


def listed(names: Iterable[str]) -> str:
    """Names separated by commas, quoted if they have one; the first twenty of many."""
    names = [repr(name) if "," in name else name for name in names]
    shown = names[:SHOWN_NAMES]
    if len(names) > SHOWN_NAMES:
        shown.append(f"and {len(names) - SHOWN_NAMES} more")
    return ", ".join(shown) or "none"
