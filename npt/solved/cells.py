"""Cells of a table as coordinates, from statistics of the context rows alone.

n rows, m context rows, d columns: p of numbers, then c of categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

SQUASH = 4.0  # standard deviations beyond which a number hardly grows
RANGE = 1.7  # of ranks, which so have about unit variance
MISSING = -1.0  # code of a missing category, which is a level of its own


class Cells(NamedTuple):
    """Rows in coordinates.

    Attributes:
        scores: Standardised numbers (n, p), bounded by 4.
        ranks: Their ranks among the context rows (n, p), from -1.7 to 1.7.
        codes: Categories (n, c); equal ones have equal codes.
    """

    scores: Tensor
    ranks: Tensor
    codes: Tensor

    @property
    def columns(self) -> int:
        """Number of columns, p + c."""
        return self.scores.shape[1] + self.codes.shape[1]

    def take(self, rows: Tensor) -> Cells:
        """Some of the rows."""
        return Cells(*(part[rows] for part in self))

    def split(self, size: int) -> list[Cells]:
        """Parts of at most so many rows."""
        parts = (part.split(size) for part in self)
        return [Cells(*part) for part in zip(*parts, strict=True)]

    def to(self, device: torch.device, dtype: torch.dtype) -> Cells:
        """The same cells elsewhere, or in another precision."""
        return Cells(*(part.to(device, dtype) for part in self))


@dataclass(frozen=True)
class Context:
    """Labelled rows, each different from all others in its features or its label.

    Attributes:
        rows: (m,) indices of the first of the original rows that are equal.
        features: (m, F) numbers and codes, NaN where missing.
        targets: (m, C), one-hot for classes.
        weights: (m,) sums of the weights of equal rows.
        places: (N,) index of the context row that each original row was merged into.
        row_weights: (N,) weights of the original rows.
        groups: (m,) codes from 0 of rows that are left out together; None if each is alone.
    """

    rows: np.ndarray
    features: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    places: np.ndarray
    row_weights: np.ndarray
    groups: np.ndarray | None = None

    @classmethod
    def from_labels(
        cls,
        features: np.ndarray,
        labels: np.ndarray,
        classes: int | None,
        weights: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> Self:
        """A context in which rows with equal features and labels, of one group, are one.

        To a ridge regression, k equal rows are one row with a ridge divided by k. The order of the
        original rows changes rounding alone.

        Args:
            features: (N, F), NaN where missing.
            labels: Numbers (N,), or class codes.
            classes: Number of classes; None for a regression.
            weights: (N,), positive; all 1 by default.
            groups: Numbers (N,), equal for rows that are left out together. A single group is none.
        """
        targets = labels[:, None].astype(np.float64) if classes is None else np.eye(classes)[labels]
        if weights is None:
            weights = np.ones(len(labels))
        filled = np.nan_to_num(features, nan=np.finfo(np.float64).max)
        compared = [filled, labels]
        codes = None
        if groups is not None and np.ptp(groups):
            codes = np.unique(groups, return_inverse=True)[1]
            compared.append(codes)
        _, rows, places = np.unique(
            np.column_stack(compared), axis=0, return_index=True, return_inverse=True
        )
        totals = np.bincount(places, weights)
        codes = None if codes is None else codes[rows]
        return cls(rows, features[rows], targets[rows], totals, places, weights, codes)

    @property
    def units(self) -> np.ndarray:
        """(m,) codes from 0 of what is left out with each context row."""
        return np.arange(len(self.rows)) if self.groups is None else self.groups

    @property
    def unit_count(self) -> int:
        """Number of them, u."""
        return int(self.units.max()) + 1


@dataclass(frozen=True)
class NumberScale:
    """Median, mean and deviation of a column, and its sorted values with their cumulated shares."""

    column: int
    median: float
    mean: float
    deviation: float
    values: np.ndarray
    shares: np.ndarray
    has_gaps: bool

    @classmethod
    def from_column(cls, column: int, numbers: np.ndarray, weights: np.ndarray) -> Self:
        """The scale of a column (m,) with at least one known number."""
        known = ~np.isnan(numbers)
        values, positions = np.unique(numbers[known], return_inverse=True)
        counts = np.bincount(positions, weights[known])
        shares = counts / counts.sum()
        cumulated = np.cumsum(shares)
        lower, upper = np.searchsorted(cumulated, [0.5 - 1e-9, 0.5 + 1e-9])
        middle = values[[lower, min(upper, len(values) - 1)]]
        largest = np.abs(values).max() or 1.0  # squares of extreme numbers overflow
        mean = float(shares @ (values / largest)) * largest
        variance = shares @ ((values - mean) / largest) ** 2
        return cls(
            column=column,
            median=float(middle.mean()),
            mean=mean,
            deviation=float(np.sqrt(variance)) * largest or 1.0,
            values=values,
            shares=np.concatenate([[0.0], cumulated]),
            has_gaps=not known.all(),
        )

    def scores(self, numbers: np.ndarray) -> np.ndarray:
        """Standardised numbers (n,), bounded by 4."""
        return SQUASH * np.tanh((numbers - self.mean) / self.deviation / SQUASH)

    def ranks(self, numbers: np.ndarray) -> np.ndarray:
        """Mid-ranks (n,) among the context rows, from -1.7 to 1.7."""
        below = self.shares[np.searchsorted(self.values, numbers, "left")]
        up_to = self.shares[np.searchsorted(self.values, numbers, "right")]
        return RANGE * (below + up_to - 1)


@dataclass(frozen=True)
class Encoder:
    """Coordinates of rows by the statistics of a context.

    A missing number is the median, with one more column of 0 and 1 where the context has gaps.
    Columns with a single value are left out.
    """

    scales: tuple[NumberScale, ...]
    categories: np.ndarray

    @classmethod
    def from_context(cls, context: Context, categorical: np.ndarray) -> Self:
        """Statistics of the context.

        Args:
            categorical: Which of the F columns hold codes (F,) bool.
        """
        scales = []
        categories = []
        for column, numbers in enumerate(context.features.T):
            if len(np.unique(numbers)) < 2:  # a missing cell counts as a value
                continue
            if categorical[column]:
                categories.append(column)
            else:
                scales.append(NumberScale.from_column(column, numbers, context.weights))
        return cls(tuple(scales), np.array(categories, int))

    def __call__(self, features: np.ndarray) -> Cells:
        """Cells of rows (n, F)."""
        scores = [np.empty((len(features), 0))]  # of a table without numbers
        ranks = [np.empty((len(features), 0))]
        for scale in self.scales:
            numbers = features[:, scale.column]
            is_gap = np.isnan(numbers)
            filled = np.where(is_gap, scale.median, numbers)
            scores.append(scale.scores(filled))
            ranks.append(scale.ranks(filled))
            if scale.has_gaps:
                scores.append(is_gap)
                ranks.append(is_gap)
        codes = np.nan_to_num(features[:, self.categories], nan=MISSING)
        parts = (np.column_stack(scores), np.column_stack(ranks), codes)
        return Cells(*map(torch.from_numpy, parts))
