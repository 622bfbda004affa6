"""What a person should look at in a custom dataset, although it can be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from npt.data.custom.formats import Content
from npt.table import Column, Table
from npt.wording import listed

CONSTANT = "constant"
NUMBERED = "row numbers or identifiers? Then put them under `drop`"
FEW = "whole numbers with few values; are they classes? Then put them under `categorical`"
MANY = "categories with many levels"
UNUSED = "under `missing`, but in no cell"
FEW_VALUES = 10
MANY_LEVELS = 100
FEWEST_COUNTED = 20  # rows in which row numbers are told from other whole numbers
BLOCK_CELLS = 1 << 22


def doubts(table: Table, content: Content) -> Iterator[str]:
    """A line for each kind of doubt, with its columns."""
    columns: defaultdict[str, list[str]] = defaultdict(list)
    for j in table.features:
        column = table.columns[j]
        if column.name not in content.dates:
            values = table.numbers(j)
            known = values[~np.isnan(values)]
            different = len(np.unique(known))
            doubt = _doubt(column, known, different)
            shown = f"{column.name} ({different:,})" if doubt in (FEW, MANY) else column.name
            columns[doubt].append(shown)
    columns[UNUSED] += content.unused
    for doubt in (CONSTANT, NUMBERED, FEW, MANY, UNUSED):
        if columns[doubt]:
            yield f"{doubt}: {listed(columns[doubt])}"
    equal = _equal_rows(table)
    if equal:
        yield (
            f"rows that equal another one: {equal:,}; they may be on both sides of a fold, unless "
            "a column under `group` keeps them together"
        )


def _doubt(column: Column, known: np.ndarray, different: int) -> str:
    """What is doubtful about a feature with some known values; empty if nothing is."""
    if different <= 1:
        return CONSTANT
    if column.kind == "categorical":
        return MANY if different > MANY_LEVELS else ""
    if (known % 1 != 0).any():
        return ""
    if _count_rows(known, different):
        return NUMBERED
    return FEW if different <= FEW_VALUES else ""


def _count_rows(values: np.ndarray, different: int) -> bool:
    """Whether whole numbers (n,) rise or fall, or are all different and as dense as row numbers."""
    if len(values) < FEWEST_COUNTED:
        return False
    steps = np.diff(values)
    is_monotone = (steps > 0).all() or (steps < 0).all()
    is_dense = different == len(values) and np.ptp(values) <= 2 * len(values)
    return bool(is_monotone or is_dense)


def _equal_rows(table: Table) -> int:
    """Number of rows whose cells are all those of another row, by a hash of 64 bits."""
    width = len(table.columns)
    generator = np.random.default_rng(0)
    factors = 2 * generator.integers(1, 2**63, width, np.uint64) + 1  # odd
    hashes = np.empty(table.rows, np.uint64)
    step = max(1, BLOCK_CELLS // width)
    for start in range(0, table.rows, step):
        rows = slice(start, start + step)
        bits = np.ascontiguousarray(table.block(rows), np.float64).view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(32))) * factors
        mixed ^= mixed >> np.uint64(29)
        hashes[rows] = mixed.sum(1, dtype=np.uint64)
    _, counts = np.unique(hashes, return_counts=True)
    return int(counts[counts > 1].sum())
