"""Checks that keep a custom dataset from giving results without meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npt.data.custom.cells import MAX_TEXT_LEVELS
from npt.data.custom.dataset import CustomDataset, CustomTask
from npt.errors import UserError, unknown
from npt.table import PARTS, Split, Table

MIN_COMPARED_ROWS = 10
MIN_ROWS_BEYOND_LEVELS = 30
ROLES = ("target", "group", "time", "drop")
TYPES = ("categorical", "continuous")


def check_names(names: Sequence[str]) -> None:
    """Column names are printable and unique.

    Raises:
        UserError: The column.
    """
    numbers: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if name and name in numbers:
            raise UserError(f"columns {numbers[name]} and {number} are both named {name!r}")
        if not name.isprintable():
            raise UserError(f"column {number} has a line break or the like in its name {name!r}")
        numbers[name] = number


def check_roles(dataset: CustomDataset, names: Sequence[str]) -> None:
    """Every column that the declaration names exists and has one role and one type.

    Raises:
        UserError: The key of the declaration and the column.
    """
    for keys in (ROLES, TYPES):
        key_of: dict[str, str] = {}
        for key in keys:
            value: str | tuple[str, ...] = getattr(dataset, key)
            declared = (value,) if isinstance(value, str) and value else value
            for name in declared:
                if name not in names:
                    raise UserError(
                        f"{key}: column {unknown(name, names)}; a file without a header needs "
                        "the names of its columns under `names`"
                    )
                if key_of.setdefault(name, key) != key:
                    raise UserError(f"{key}: {name!r} is under {key_of[name]} already")


def check_target(table: Table, task: CustomTask) -> None:
    """The target has at least two values, and classes fit the task and occur at least twice.

    Raises:
        UserError: The target and what is wrong with it.
    """
    column = table.columns[table.target]
    known = table.truth[~np.isnan(table.truth)]
    values, counts = np.unique(known, return_counts=True)
    name = f"target {column.name!r}"
    if len(values) == 0:
        raise UserError(f"{name} has no known value")
    if len(values) == 1:
        only = column.levels[int(values[0])] if column.levels else f"{values[0]:g}"
        raise UserError(f"{name} has a single value, {only}; there is nothing to learn")
    if task == "regression":
        return
    if len(values) > MAX_TEXT_LEVELS and len(values) > len(known) / 3:
        raise UserError(
            f"{name} has {len(values)} classes in {len(known)} rows; is the task regression?"
        )
    if counts.min() < 2:
        rare = column.levels[int(values[counts.argmin()])]
        raise UserError(f"{name}: class {rare!r} has one row; training and testing need two")
    if task != "classification" and task != table.task:
        raise UserError(f"{name} has {len(values)} classes; the task is {task}")


def check_copies(table: Table) -> None:
    """No feature leaks the target: it orders the rows as the target does, or determines its class.

    A class is determined by a number or category in bijection with it, or by a category of which
    each level has one class. Rows in which either is missing are not compared. The single feature
    of a curve may order the rows as its target does.

    Raises:
        UserError: The feature.
    """
    target = table.columns[table.target]
    for j in table.features:
        feature = table.columns[j]
        values = table.numbers(j)
        both = ~np.isnan(values) & ~np.isnan(table.truth)
        values = values[both]
        truth = table.truth[both]
        if len(values) < MIN_COMPARED_ROWS:
            continue
        if target.levels:
            leaks = _determines(values, truth, is_category=bool(feature.levels))
        else:
            is_number = not feature.levels and len(table.features) > 1
            leaks = is_number and _orders(values, truth)
        if leaks:
            raise UserError(
                f"column {feature.name!r} determines the target {target.name!r} in every row "
                "(leakage); put it under `drop`"
            )


def _orders(feature: np.ndarray, target: np.ndarray) -> bool:
    """Whether rank correlation is 1 or -1 over at least ten different values (n,)."""
    if len(np.unique(feature)) < MIN_COMPARED_ROWS:
        return False
    ranks = np.unique(feature, return_inverse=True)[1]
    order = np.unique(target, return_inverse=True)[1]
    return np.array_equal(ranks, order) or np.array_equal(ranks.max() - ranks, order)


def _determines(feature: np.ndarray, classes: np.ndarray, *, is_category: bool) -> bool:
    """Whether each value (n,) has one class: in bijection, or in more rows than by chance."""
    values = len(np.unique(feature))
    pairs = np.unique(np.stack([feature, classes]), axis=1).shape[1]
    in_bijection = values == len(np.unique(classes))
    by_levels = is_category and len(feature) - values >= MIN_ROWS_BEYOND_LEVELS
    return pairs == values > 1 and (in_bijection or by_levels)


def check_known_targets(table: Table, split: Split) -> None:
    """Each part of a fold has a known target, and the train rows have two different ones.

    Raises:
        UserError: The part and its fold.
    """
    target = table.columns[table.target].name
    for part in PARTS:
        truth = table.truth[split.rows(part)]
        values = len(np.unique(truth[~np.isnan(truth)]))
        required = 2 if part == "train" else 1
        if values < required:
            raise UserError(
                f"target {target!r}: the {part} rows of fold {split.fold} have {values} different "
                f"known values, {required} required; remove rows without a target, or choose "
                "other folds"
            )
