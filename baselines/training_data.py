"""What a baseline is fitted to: features, targets, and the numbers of train and validation rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from baselines.stored_rows import StoredRows
from npt.data.encoding import Statistics, coded_features, one_hot_features
from npt.metrics import METRICS
from npt.table import Split, Table, Task


@dataclass(frozen=True)
class TrainingData:
    """Features of all rows, with the targets of those that show one.

    Attributes:
        features: (N, F).
        target: (N,), class codes or standardised values; NaN where hidden.
        train: Numbers of the train rows with a known target.
        validation: Numbers of the validation rows with a known target.
        task: Task of the table.
        classes: Number of classes of the target, C; 1 for regression.
        categorical: Number of codes by the index of each feature that is category codes; empty for
            one-hot features.
        columns: For each feature, the index of its table column, counted without the target.
        unlabelled: Numbers of the train rows without a known target.
        groups: Codes (N,) of rows that belong together; None if each row is alone.
    """

    features: np.ndarray
    target: np.ndarray
    train: np.ndarray
    validation: np.ndarray
    task: Task
    classes: int
    categorical: dict[int, int] = field(default_factory=dict)
    columns: tuple[int, ...] = ()
    unlabelled: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    groups: np.ndarray | None = None

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return self.task == "regression"

    @property
    def is_code(self) -> np.ndarray:
        """Which features (F,) are category codes."""
        return np.isin(np.arange(self.features.shape[1]), list(self.categorical))

    @property
    def train_features(self) -> np.ndarray:
        """Features of the train rows."""
        return self.features[self.train]

    @property
    def train_groups(self) -> np.ndarray | None:
        """Groups of the train rows."""
        return None if self.groups is None else self.groups[self.train]

    @property
    def seen_classes(self) -> np.ndarray:
        """Codes of the classes that occur in the train rows, ascending."""
        return np.unique(self.target[self.train]).astype(int)

    @property
    def trained_classes(self) -> int | None:
        """Number of the seen classes, K; None for a regression."""
        return None if self.is_regression else len(self.seen_classes)

    @property
    def train_labels(self) -> np.ndarray:
        """Targets of the train rows; classes are numbered 0 .. K-1 over the seen ones."""
        target = self.target[self.train]
        if self.is_regression:
            return target
        return np.searchsorted(self.seen_classes, target)

    @property
    def early_stopping(self) -> tuple[np.ndarray, np.ndarray]:
        """Features and labels of validation rows, without classes that no train row has."""
        rows = self.validation
        if self.is_regression:
            return self.features[rows], self.target[rows]
        rows = rows[np.isin(self.target[rows], self.seen_classes)]
        return self.features[rows], np.searchsorted(self.seen_classes, self.target[rows])

    @property
    def stored_rows(self) -> StoredRows:
        """The train rows, for models that predict from them."""
        return StoredRows(self.train_features, self.train_labels, self.trained_classes)

    def over_all_classes(self, predicted: np.ndarray) -> np.ndarray:
        """Predictions of a library in float64.

        Args:
            predicted: Values (n,) or (n, 1), or probabilities (n, K) of the seen classes.

        Returns:
            Values (n,), or probabilities (n, C) that sum to one, zero for unseen classes.
        """
        values = np.asarray(predicted, np.float64)
        if self.is_regression:
            return values.reshape(-1)
        probabilities = np.zeros((len(values), self.classes))
        probabilities[:, self.seen_classes] = values
        return probabilities / probabilities.sum(1, keepdims=True)

    def validation_loss(self, predicted: np.ndarray) -> float:
        """Log loss in nats, or mean squared error of the standardised target, on validation rows.

        Args:
            predicted: Predictions of a library, as for `over_all_classes`.
        """
        metric = METRICS["mse" if self.is_regression else "nll"]
        return metric.compute(self.target[self.validation], self.over_all_classes(predicted))


def training_data(
    table: Table,
    split: Split,
    known: Statistics,
    *,
    codes: bool,
    missing: float = 0.0,
) -> TrainingData:
    """Features and standardised target of a table.

    Args:
        table: A table that is blind to the targets of test rows.
        split: One fold.
        known: Centre and scale of its columns.
        codes: Categories become integer codes instead of one-hot features.
        missing: Value of missing numbers: 0, the column's mean, or NaN.
    """
    target = known.standardised(table.truth, table.target)
    labelled = ~np.isnan(target)
    encode = coded_features if codes else one_hot_features
    categorical = {}
    columns: list[int] = []
    for i, j in enumerate(table.features):
        column = table.columns[j]
        width = 1 if codes else column.size
        columns += [i] * width
        if codes and column.kind == "categorical":
            categorical[i] = column.size + 1
    return TrainingData(
        features=encode(table, known, missing=missing),
        target=target,
        train=split.train[labelled[split.train]],
        validation=split.validation[labelled[split.validation]],
        unlabelled=split.train[~labelled[split.train]],
        task=table.task,
        classes=table.columns[table.target].size,
        categorical=categorical,
        columns=tuple(columns),
        groups=table.groups,
    )
