"""Lines that describe how the columns of a custom dataset were read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from npt.data.frames import Feature
from npt.errors import listed
from npt.table import Table

FEW_VALUES = 10
NUMBER_WITH_UNIT = r"[-+]?[0-9.,]+ ?[^\W\d]+"
FEWEST_COUNTED = 20  # rows in which row numbers, or a row far off, are told from chance


def described(
    title: str,
    table: Table,
    features: Sequence[Feature],
    words: Mapping[str, Sequence[str]],
    left_out: Sequence[str],
    group: str,
) -> Iterator[str]:
    """Size, task, column types, missing cells, dates, groups, columns left out: a line each.

    Args:
        words: Words in the cells of a column that are missing cells, by its name.
    """
    target = table.columns[table.target]
    task = f"{table.task} of {target.name}"
    if target.levels:
        task += f" ({target.size} classes: {listed(target.levels)})"
    columns = [table.columns[j] for j in table.features]
    categorical = [f"{column.name} ({column.size})" for column in columns if column.levels]
    missing = []
    for j, column in enumerate(table.columns):
        count = int(np.isnan(table.numbers(j)).sum())
        if count:
            written = f" (written {', '.join(words[column.name])})" if words[column.name] else ""
            missing.append(f"{column.name} {count:,}{written}")
    dates = [feature.name for feature in features if feature.kind == "date"]
    yield f"{title}: {table.rows:,} rows, {len(columns):,} features, {task}"
    yield f"continuous: {listed(column.name for column in columns if not column.levels)}"
    yield f"categorical: {listed(categorical)}"
    yield f"missing cells: {listed(missing)}"
    if dates:
        yield f"dates, as seconds: {listed(dates)}"
    if table.groups is not None:
        yield f"kept together: rows of equal {group} ({table.groups.max() + 1:,} groups)"
    if left_out:
        yield f"left out: {listed(left_out)}"


def doubts(table: Table, features: Sequence[Feature]) -> Iterator[str]:
    """What could make results meaningless, although the table can be read: a line each."""
    numbered = []
    few = []
    for j in table.features:
        if features[j].kind != "number":
            continue
        values = table.numbers(j)
        known = values[~np.isnan(values)]
        different = len(np.unique(known))
        if different < 2 or (known % 1 != 0).any():
            continue
        if _count_rows(known, different):
            numbered.append(features[j].name)
        elif different <= FEW_VALUES:
            few.append(f"{features[j].name} ({different})")
    with_unit = []
    for column in table.columns:
        if column.levels and all(re.fullmatch(NUMBER_WITH_UNIT, level) for level in column.levels):
            with_unit.append(column.name)
    if with_unit:
        yield f"numbers with a unit? Then write the digits alone: {listed(with_unit)}"
    if numbered:
        yield (
            "numbers of rows or of blocks of rows, or identifiers? Then put them under `drop` or "
            f"`group`: {listed(numbered)}"
        )
    if few:
        yield (
            "whole numbers with few values; are they classes? Then put them under `categorical`: "
            f"{listed(few)}"
        )
    if table.task == "regression" and table.rows >= FEWEST_COUNTED:
        truth = table.truth
        deviations = truth - np.nanmean(truth)
        squares = (deviations / np.nanmax(np.abs(deviations))) ** 2  # of any magnitude
        row = np.nanargmax(squares)
        if squares[row] > np.nansum(squares) / 2:
            yield (
                "one row has most of the target's variance; is it a total or a mistake? Then "
                f"remove it: {truth[row]:g} in row {row + 1}"
            )
    equal = int(pd.DataFrame(table.values).duplicated(keep=False).sum())
    if equal and table.groups is None:
        yield (
            f"rows that equal another one: {equal:,}; they may be on both sides of a fold, unless "
            "a column under `group` keeps them together"
        )


def _count_rows(values: np.ndarray, different: int) -> bool:
    """Whether whole numbers (n,) rise or fall, or are all different and as dense as row numbers."""
    if len(values) < FEWEST_COUNTED:
        return False
    steps = np.diff(values)
    is_monotone = (steps >= 0).all() or (steps <= 0).all()
    is_dense = different == len(values) and np.ptp(values) <= 2 * len(values)
    return bool(is_monotone or is_dense)
