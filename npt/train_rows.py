"""What a model is trained on of a fold's train rows: a share of them, or few of their labels.

Learning from few labels is the setting of Oliver et al., *Realistic Evaluation of Deep
Semi-Supervised Learning Algorithms* (NeurIPS 2018): validation labels are as scarce as train
labels, and the test rows are those of the whole fold.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from npt.table import Split, Table
from npt.validation import Strict

Unlabelled = Literal["present", "permuted", "absent"]


class TrainRows(Strict):
    """A part of the train rows, or of their labels; the default is all of both.

    The number of the fold determines every random draw. What is larger has all that is smaller.

    Attributes:
        share: Share of the train rows that are there.
        labels: Number of train rows that show their targets; None for all, as with a `share` below
            1. Validation rows show theirs in the same proportion, at least one.
        unlabelled: What becomes of the other train rows: they show their features, or features
            that are permuted among them, each by itself, or they are removed.
    """

    share: float = 1.0
    labels: int | None = None
    unlabelled: Unlabelled = "present"

    def refusal(self, table: Table, split: Split) -> str | None:
        """The reason why a fold has too few labels, or None."""
        labelled = len(table.labelled(split.train))
        if self.labels is None or self.labels < labelled:
            return None
        return f"needs more than {self.labels} train rows with a known target, found {labelled}"

    def of_fold(self, table: Table, split: Split) -> tuple[Table, Split]:
        """The table and the fold that a model is trained on."""
        if self.share < 1:
            return _with_train(table, split, split.drawn_train_rows(self.share))
        if self.labels is None:
            return table, split
        train = _labelling_order(table, split.train, split.fold)
        validation = _labelling_order(table, split.validation, split.fold)
        labelled = np.sort(train[: self.labels])
        validated = max(1, round(len(validation) * self.labels / len(train)))
        table = table.blind(validation[validated:])
        if self.unlabelled == "absent":
            return _with_train(table, split, labelled)
        others = np.setdiff1d(split.train, labelled)
        table = table.blind(others)
        if self.unlabelled == "permuted":
            table = _permuted(table, others, split.fold)
        return table, split


def _with_train(table: Table, split: Split, train: np.ndarray) -> tuple[Table, Split]:
    """A table without the other train rows, and its fold."""
    parts = (train, split.validation, split.test)
    kept = np.sort(np.concatenate(parts))
    return table.take(kept), Split(split.fold, *(np.searchsorted(kept, rows) for rows in parts))


def _labelling_order(table: Table, rows: np.ndarray, seed: int) -> np.ndarray:
    """Rows with a known target in random order; any first ones have the classes in proportion."""
    order = np.random.default_rng((seed, 0)).permutation(rows)
    order = table.labelled(order)
    if table.task == "regression":
        return order
    classes = table.truth[order]
    position = np.empty(len(order))
    for code in np.unique(classes):
        count = np.count_nonzero(classes == code)
        position[classes == code] = (np.arange(count) + 0.5) / count
    return order[np.argsort(position, kind="stable")]


def _permuted(table: Table, rows: np.ndarray, seed: int) -> Table:
    """A table whose features of some rows are permuted among them, each column by itself."""
    generator = np.random.default_rng((seed, 1))
    for j in table.features:
        numbers = table.numbers(j)
        numbers[rows] = numbers[generator.permutation(rows)]
        table = table.with_numbers(j, numbers)
    return table
