"""Folds: the only place where a row is assigned to train, validation or test.

Paper Appendices C.1 and E.1.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from npt.data.declaration import SplitRule
from npt.errors import UserError
from npt.table import PARTS, Split, Table

SPLIT_SEED = 42
Rows = np.ndarray  # row numbers (n,)
Values = np.ndarray  # time or stratum of every row
Pair = tuple[Rows, Rows]
Parts = tuple[Rows, Rows, Rows]


def splits(
    table: Table,
    rule: SplitRule,
    times: Values | None = None,
    pairs: Sequence[Pair] | None = None,
) -> list[Split]:
    """The folds of a table, the same for every method.

    Test rows come from a K-fold, are the last or latest rows, or are given by `pairs`. Validation
    rows are chosen from the rest: at random, by group, or the last or latest. The rows of a group
    stay together. The share of validation rows is then that of rows with a target.

    Args:
        times: Time of every row (N,). There is one fold: the latest rows are tested, those before
            them validate, and rows of one time stay together. Rows without a target do not count.
        pairs: Other rows and test rows of each fold, where the source has them.

    Raises:
        UserError: There are too few rows, groups or times.
    """
    labels = labels_of(table)
    fraction = rule.validation_share  # of the rows other than the test rows
    if not rule.fixed_test_rows and not rule.from_source:
        fraction /= 1 - 1 / rule.folds
    parts = []
    for rest, test in pairs or _test_rows(table, rule, labels, times):
        if rule.fixed_validation_rows:
            train = rest[: -rule.fixed_validation_rows]
            validation = rest[-rule.fixed_validation_rows :]
        elif times is not None:
            train, validation = _latest(rest, times, table.truth, fraction)
        elif table.groups is not None:
            train, validation = grouped_parts(rest, table, fraction, SPLIT_SEED)
        else:
            strata = None if labels is None else labels[rest]
            train, validation = _some_rows(rest, strata, fraction)
        parts.append((train, validation, test))
    if rule.legacy:
        parts = _legacy(parts, table.rows)
    return [Split(fold, *map(np.sort, rows)) for fold, rows in enumerate(parts)]


def _legacy(folds: Iterable[Parts], rows: int) -> Iterator[Parts]:
    """Folds of the paper's released code, which reorders its table inside the loop over folds.

    The rows of a fold are indices into the order that the previous fold left: train, validation,
    test. So the first fold is right. Later ones are random overlapping draws without strata: some
    rows are tested several times, others never.
    """
    order = np.arange(rows)
    for train, validation, test in folds:
        order = order[np.concatenate([train, validation, test])]
        last_validation = len(train) + len(validation)
        yield order[: len(train)], order[len(train) : last_validation], order[last_validation:]


def labels_of(table: Table) -> Values | None:
    """Strata of the rows: the class, or whether the target is known if it is not in all rows."""
    if table.task != "regression":
        return np.nan_to_num(table.truth, nan=-1)
    hidden = np.isnan(table.truth)
    return hidden if hidden.any() else None


def _test_rows(
    table: Table,
    rule: SplitRule,
    labels: Values | None,
    times: Values | None,
) -> list[Pair]:
    """Other rows and test rows of each fold."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    rows = np.arange(table.rows)
    if times is not None:
        return [_latest(rows, times, table.truth, 1 / rule.folds)]
    if rule.fixed_test_rows:
        return [(rows[: -rule.fixed_test_rows], rows[-rule.fixed_test_rows :])]
    groups = table.groups
    units = rows if groups is None else np.unique(groups)
    if len(units) < max(rule.folds, len(PARTS)):
        unit = "rows" if groups is None else "groups"
        raise UserError(
            f"folds: {len(units)} {unit} are too few for {rule.folds} folds of three parts"
        )
    if labels is not None:
        _, counts = np.unique(labels, return_counts=True)
        if counts.max() < rule.folds:
            labels = None  # no class has a row for every fold
    kind: Any = KFold if labels is None else StratifiedKFold
    if groups is not None:
        kind = StratifiedGroupKFold
    folder = kind(rule.folds, shuffle=True, random_state=SPLIT_SEED)
    if labels is None and groups is not None:
        folder = GroupKFold(rule.folds)  # unshuffled: it balances the numbers of rows
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(folder.split(rows, labels, groups))


def _some_rows(rest: Rows, labels: Values | None, fraction: float) -> Pair:
    """Train and validation rows."""
    count = int(np.ceil(fraction * len(rest)))
    if not 0 < count < len(rest):
        raise UserError(
            f"validation_share: leaves {len(rest) - count} train rows of the {len(rest)} "
            "that are not tested"
        )
    return random_parts(rest, labels, count, SPLIT_SEED)


def random_parts(rows: Rows, labels: Values | None, count: int, seed: int) -> Pair:
    """Other rows and `count` random ones, stratified as far as the classes have rows for it."""
    from sklearn.model_selection import train_test_split

    strata = None if labels is None else _strata(labels, count)
    parts: Any = train_test_split(rows, test_size=count, random_state=seed, stratify=strata)
    return parts[0], parts[1]


def _strata(labels: Values, held_out: int) -> Values | None:
    """Strata of at least two rows each; None if there are too many of them for either part.

    Classes of a single row join each other, or the largest class if there is only one.
    """
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    single = counts[codes] < 2
    if single.any():
        joined = len(classes) if single.sum() > 1 else counts.argmax()
        codes = np.where(single, joined, codes)
    smaller_part = min(held_out, len(labels) - held_out)
    return codes if len(np.unique(codes)) <= smaller_part else None


def grouped_parts(rest: Rows, table: Table, fraction: float, seed: int) -> Pair:
    """Train and validation rows of a table with groups.

    Groups come in a random order. Each joins the validation rows if that brings their number of
    known targets nearer to the fraction.
    """
    assert table.groups is not None
    names, codes = np.unique(table.groups[rest], return_inverse=True)
    sizes = np.bincount(codes[~np.isnan(table.truth[rest])], minlength=len(names))
    scored = np.flatnonzero(sizes)
    if len(scored) < 2:
        found = f"{len(scored)} with a target left for train and validation rows"
        raise UserError(f"group: {found}, at least 2 required")
    wanted = fraction * sizes.sum()
    held_out = 0
    chosen = np.zeros(len(names), bool)
    for group in np.random.default_rng(seed).permutation(len(names)):
        enlarged = held_out + sizes[group]
        if abs(enlarged - wanted) < abs(held_out - wanted):
            chosen[group] = True
            held_out = enlarged
    if not chosen.any():
        chosen[scored[sizes[scored].argmin()]] = True
    if chosen[scored].all():
        chosen[scored[sizes[scored].argmin()]] = False
    in_validation = chosen[codes]
    return rest[~in_validation], rest[in_validation]


def _latest(rows: Rows, times: Values, truth: np.ndarray, fraction: float) -> Pair:
    """Earlier rows, and the latest ones.

    The latter have about a fraction of the known targets, at least those of one time.
    """
    scored = rows[~np.isnan(truth[rows])]
    distinct, counts = np.unique(times[scored], return_counts=True)
    if len(distinct) < 2:
        found = f"{len(distinct)} different times of {len(scored)} rows with a target"
        raise UserError(f"time: {found}, at least 2 required")
    scored_from = np.cumsum(counts[::-1])[::-1]  # number of scored rows from each time on
    differences = np.abs(scored_from[1:] - fraction * len(scored))
    start = distinct[differences.argmin() + 1]
    late = times[rows] >= start
    return rows[~late], rows[late]
