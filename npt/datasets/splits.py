"""The only place where a row is assigned to train, validation or test (paper Appendix C.1, E.1)."""

from __future__ import annotations

import numpy as np

from npt.datasets.declaration import SplitRule
from npt.interface import Split, Table

SPLIT_SEED = 42


def splits(table: Table, rule: SplitRule) -> list[Split]:
    """The used folds of a table, the same for every method.

    Test rows come from a shuffled K-fold (stratified for classification) or are the last rows of the file; validation
    rows are one random draw from the rest, stratified likewise.

    With `legacy`, the rows of a fold are looked up in the order that the fold before it left behind (train, validation, test):
    the released code reorders its table inside the loop over folds. Its first fold is right; later ones are random overlapping
    draws without strata, so that some rows are tested several times and others never.
    """
    from sklearn.model_selection import train_test_split

    labels = None if table.task == "regression" else np.nan_to_num(table.truth, nan=-1)
    found, order = [], np.arange(table.rows)
    for fold, (rest, test) in enumerate(_test_rows(table, rule, labels)):
        share = rule.validation_share if rule.fixed_test_rows else rule.validation_share / (1 - 1 / rule.folds)
        stratify = None if labels is None else labels[rest]
        train, validation = train_test_split(rest, test_size=share, random_state=SPLIT_SEED, stratify=stratify)
        if rule.legacy:
            order = order[np.concatenate([train, validation, test])]
            train, validation, test = np.split(order, [len(train), len(train) + len(validation)])
        found.append(Split(fold, np.sort(train), np.sort(validation), np.sort(test)))
    return found


def _test_rows(table: Table, rule: SplitRule, labels: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    every = np.arange(table.rows)
    if rule.fixed_test_rows:
        return [(every[: -rule.fixed_test_rows], every[-rule.fixed_test_rows :])]
    folder = (KFold if labels is None else StratifiedKFold)(rule.folds, shuffle=True, random_state=SPLIT_SEED)
    return list(folder.split(every, labels))[: rule.used]
