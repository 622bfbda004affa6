"""Checks that keep a custom dataset from giving results without meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npt.data.custom.cells import MAX_TEXT_LEVELS
from npt.data.custom.dataset import CustomDataset, CustomTask
from npt.data.custom.formats import MAX_COLUMNS
from npt.interface import UserError, unknown
from npt.table import PARTS, Split, Table
from npt.wording import listed

MIN_COMPARED_ROWS = 10
MIN_TOLD_ROWS = 30  # rows beyond one for each level
ROLES = ("target", "group", "time", "drop")
TYPES = ("categorical", "continuous")


def check_names(names: Sequence[str]) -> None:
    """Column names are few enough, printable and unique.

    Raises:
        UserError: The column.
    """
    if len(names) > MAX_COLUMNS:
        raise UserError(f"has {len(names):,} columns; at most {MAX_COLUMNS:,} are allowed")
    numbers: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if name and name in numbers:
            raise UserError(f"columns {numbers[name]} and {number} are both named {name!r}")
        if not name.isprintable():
            raise UserError(f"column {number} has a line break or the like in its name {name!r}")
        numbers[name] = number


def check_roles(dataset: CustomDataset, names: list[str]) -> None:
    """Every column that the declaration names exists and has one role and one type.

    Raises:
        UserError: The key of the declaration and the column.
    """
    for keys in (ROLES, TYPES):
        key_of: dict[str, str] = {}
        for key in keys:
            for name in _columns_under(dataset, key):
                _require_column(key, name, names)
                if key_of.setdefault(name, key) != key:
                    raise UserError(f"{key}: {name!r} is under {key_of[name]} already")


def _columns_under(dataset: CustomDataset, key: str) -> tuple[str, ...]:
    value = getattr(dataset, key)
    if isinstance(value, str):
        return (value,) if value else ()
    return value


def _require_column(key: str, name: str, names: list[str]) -> None:
    if name in names:
        return
    values = [other for other in names if _is_number(other)]
    if key == "target" and values:
        raise UserError(
            f"target: there is no column {name!r}, and the first line holds {values[0]!r}; "
            "a file without a header needs the names of its columns under `names`"
        )
    reason, _, _ = unknown(name, names).partition("allowed:")
    raise UserError(f"{key}: column {reason}columns: {listed(names)}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
    """No feature leaks the target: it orders the rows as the target does, or tells its class.

    Rows in which either is missing are left out of the comparison. A class is told by a number
    in bijection with it, or by a category of which each level has one class.

    Raises:
        UserError: The feature.
    """
    target = table.columns[table.target]
    for j in table.features:
        feature = table.columns[j]
        numbers = table.numbers(j)
        both = ~np.isnan(numbers) & ~np.isnan(table.truth)
        if both.sum() < MIN_COMPARED_ROWS:
            continue
        values = numbers[both]
        truth = table.truth[both]
        if target.kind == "continuous":
            leaks = feature.kind == "continuous" and _orders(values, truth)
        elif feature.kind == "continuous":
            leaks = _in_bijection(values, truth)
        else:
            leaks = _in_bijection(values, truth) or _tells(values, truth)
        if leaks:
            raise UserError(
                f"column {feature.name!r} determines the target {target.name!r} in every row "
                "(leakage); put it under `drop`"
            )


def _orders(feature: np.ndarray, target: np.ndarray) -> bool:
    """Whether rank correlation is 1 or -1 over at least ten different values (n,)."""
    from scipy.stats import rankdata

    if len(np.unique(feature)) < MIN_COMPARED_ROWS:
        return False
    ranks = rankdata(feature)
    order = rankdata(target)
    return np.array_equal(ranks, order) or np.array_equal(ranks, len(ranks) + 1 - order)


def _tells(levels: np.ndarray, classes: np.ndarray) -> bool:
    """Whether each level (n,) has one class, in more rows than chance explains."""
    pairs = np.unique(np.stack([levels, classes]), axis=1).shape[1]
    number = len(np.unique(levels))
    return pairs == number > 1 and len(levels) - number >= MIN_TOLD_ROWS


def _in_bijection(feature: np.ndarray, classes: np.ndarray) -> bool:
    """Whether values (n,) and classes (n,) correspond one to one, with at least two of them."""
    pairs = np.unique(np.stack([feature, classes]), axis=1).shape[1]
    return pairs == len(np.unique(feature)) == len(np.unique(classes)) > 1


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
