"""The only place where a row is assigned to train, validation or test (paper Appendix C.1, E.1)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from npt.data.declaration import SplitRule
from npt.interface import UserError
from npt.table import Split, Table

SPLIT_SEED = 42
Pair = tuple[np.ndarray, np.ndarray]


def splits(
    table: Table, rule: SplitRule, groups: np.ndarray | None = None, times: np.ndarray | None = None
) -> list[Split]:
    """The used folds of a table, the same for every method.

    Test rows come from a shuffled K-fold (stratified for classification) or are the last rows of the file; validation
    rows are one random draw from the rest, stratified likewise. With `groups` (N,) the rows of a group stay together. With
    `times` (N,) there is one fold: the latest rows are tested, those before them validate, and rows of one time stay together.

    With `legacy`, the rows of a fold are looked up in the order that the fold before it left behind (train, validation, test):
    the released code reorders its table inside the loop over folds. Its first fold is right; later ones are random overlapping
    draws without strata, so that some rows are tested several times and others never.

    Raises:
        UserError: there are too few rows, groups or times.
    """
    labels = _labels(table)
    found, order = [], np.arange(table.rows)
    for fold, (rest, test) in enumerate(_test_rows(table, rule, labels, groups, times)):
        share = (
            rule.validation_share
            if rule.fixed_test_rows
            else rule.validation_share / (1 - 1 / rule.folds)
        )
        if times is not None:
            train, validation = _latest(rest, times, share)
        elif groups is not None:
            train, validation = _some_groups(rest, groups, share)
        else:
            train, validation = _some_rows(rest, None if labels is None else labels[rest], share)
        if rule.legacy:
            order = order[np.concatenate([train, validation, test])]
            train, validation, test = np.split(order, [len(train), len(train) + len(validation)])
        found.append(Split(fold, np.sort(train), np.sort(validation), np.sort(test)))
    return found


def _labels(table: Table) -> np.ndarray | None:
    """What folds are stratified by: the class, or whether the target is known if it is not in all rows."""
    if table.task != "regression":
        return np.nan_to_num(table.truth, nan=-1)
    hidden = np.isnan(table.truth)
    return hidden if hidden.any() else None


def _test_rows(
    table: Table,
    rule: SplitRule,
    labels: np.ndarray | None,
    groups: np.ndarray | None,
    times: np.ndarray | None,
) -> list[Pair]:
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    options = {"shuffle": True, "random_state": SPLIT_SEED}
    every = np.arange(table.rows)
    if times is not None:
        return [_latest(every, times, 1 / rule.folds)]
    if rule.fixed_test_rows:
        return [(every[: -rule.fixed_test_rows], every[-rule.fixed_test_rows :])]
    count, unit = (table.rows, "rows") if groups is None else (len(np.unique(groups)), "groups")
    if count < max(rule.folds, 3):
        raise UserError(
            f"{count} {unit} are too few for {rule.folds} folds with train, validation and test rows each"
        )
    if labels is not None and np.unique(labels, return_counts=True)[1].max() < rule.folds:
        labels = None  # no class has a row for every fold
    if groups is None:
        folder = (KFold if labels is None else StratifiedKFold)(rule.folds, **options)
    else:  # without shuffling, groups are dealt out by their sizes, so that folds are about alike
        folder = (
            GroupKFold(rule.folds)
            if labels is None
            else StratifiedGroupKFold(rule.folds, **options)
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(folder.split(every, labels, groups))[: rule.used]


def _some_rows(rest: np.ndarray, labels: np.ndarray | None, share: float) -> Pair:
    """Train and validation rows, stratified as far as the classes have rows for it."""
    from sklearn.model_selection import train_test_split

    held = int(np.ceil(share * len(rest)))
    if not 0 < held < len(rest):
        raise UserError(
            f"validation_share: leaves {len(rest) - held} train rows of the {len(rest)} beside the test rows"
        )
    parts: Any = train_test_split(
        rest, test_size=share, random_state=SPLIT_SEED, stratify=_strata(labels, share)
    )
    return parts[0], parts[1]


def _strata(labels: np.ndarray | None, share: float) -> np.ndarray | None:
    """Labels in which classes of a single row have joined each other, and the largest class if there is only one such."""
    if labels is None:
        return None
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    single = counts[codes] < 2
    if single.any():
        codes = np.where(single, len(classes) if single.sum() > 1 else counts.argmax(), codes)
    held = int(np.ceil(share * len(labels)))
    return codes if len(np.unique(codes)) <= min(held, len(labels) - held) else None


def _some_groups(rest: np.ndarray, groups: np.ndarray, share: float) -> Pair:
    """Train and validation rows: groups in a drawn order, each that brings the validation rows nearer to their share."""
    names, codes, sizes = np.unique(groups[rest], return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise UserError(
            f"{len(names)} group is left beside the test rows, too few for train and validation rows"
        )
    wanted, held, chosen = share * len(rest), 0, np.zeros(len(names), bool)
    for group in np.random.default_rng(SPLIT_SEED).permutation(len(names)):
        if abs(held + sizes[group] - wanted) < abs(held - wanted):
            chosen[group], held = True, held + sizes[group]
    if not chosen.any():
        chosen[sizes.argmin()] = True
    return rest[~chosen[codes]], rest[chosen[codes]]


def _latest(rows: np.ndarray, times: np.ndarray, share: float) -> Pair:
    """The rows before a moment and those from it on, which are about `share` of all and at least one time."""
    moments, counts = np.unique(times[rows], return_counts=True)
    if len(moments) < 2:
        raise UserError(
            f"{len(moments)} different times among {len(rows)} rows are too few to part them by time"
        )
    later = np.cumsum(counts[::-1])[::-1]  # rows from each moment on
    first = int(np.abs(later[1:] - share * len(rows)).argmin()) + 1
    return rows[times[rows] < moments[first]], rows[times[rows] >= moments[first]]
