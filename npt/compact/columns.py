"""Tables as tensors for compact NPT: numbers with their position among quantiles, and categories.

N rows, d features, of which q are embedded as numbers and c as categories; a category whose levels
are numbers can be both. b bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from npt.compact.settings import CompactSettings
from npt.data.encoding import Statistics, centre_and_scale, statistics
from npt.table import ALL_ROWS, Column, Split, Table

Rows = np.ndarray | slice


@dataclass(frozen=True)
class Features:
    """Cells of n rows, the target left out.

    Attributes:
        numbers: Standardised numbers (n, q), 0 where missing.
        positions: Position of a number among the edges of its column (n, q): 2.5 is the middle of
            the third bin.
        codes: Levels (n, c) of categories, 0 where missing.
        missing: Which cells (n, d) are missing.
    """

    numbers: Tensor
    positions: Tensor
    codes: Tensor
    missing: Tensor

    def __len__(self) -> int:
        return len(self.missing)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All of them."""
        return self.numbers, self.positions, self.codes, self.missing

    def take(self, rows: Tensor) -> Features:
        """Some rows; of rows (..., n), features (..., n, columns)."""
        return Features(*(part[rows] for part in self.tensors))

    def to(self, device: torch.device, kind: torch.dtype) -> Features:
        """The same on a device, with numbers of a type."""
        return Features(
            numbers=self.numbers.to(device, kind),
            positions=self.positions.to(device, kind),
            codes=self.codes.to(device),
            missing=self.missing.to(device),
        )


@dataclass(frozen=True)
class Encoder:
    """How the columns of a table are encoded; it is learned from one table and applied to others.

    Attributes:
        columns: All columns of the table.
        target: Index of the target.
        numeric: Indices of the columns embedded as numbers (q).
        categorical: Indices of those embedded as categories (c).
        centre: Centre of the numeric columns and, last, of the target (q + 1).
        scale: Their scale.
        edges: Quantiles (q, b + 1) of the numeric columns, in original units; the last one is
            repeated in columns with fewer bins.
        means: Mean share (q, b) of the bins that lies below a number of the column.
    """

    columns: tuple[Column, ...]
    target: int
    numeric: tuple[int, ...]
    categorical: tuple[int, ...]
    centre: np.ndarray
    scale: np.ndarray
    edges: np.ndarray
    means: np.ndarray

    @classmethod
    def from_table(
        cls,
        table: Table,
        split: Split,
        settings: CompactSettings,
    ) -> Encoder:
        """Learn scales from all rows, or the train rows; the target's are of the train rows."""
        rows = ALL_ROWS if settings.transductive else split.train
        numeric = tuple(j for j in table.features if _is_numeric(table.columns[j]))
        kinds = [column.kind for column in table.columns]
        categorical = tuple(j for j in table.features if kinds[j] == "categorical")
        known = statistics(table, split, transductive=settings.transductive)
        encoded = [*numeric, table.target]
        centre = known.centre[encoded]
        scale = known.scale[encoded]
        edges = np.zeros((len(numeric), settings.bins + 1))
        means = np.zeros((len(numeric), settings.bins))
        for index, j in enumerate(numeric):
            numbers = _numbers(table, j, rows)
            numbers = numbers[~np.isnan(numbers)]
            if not len(numbers):
                numbers = np.zeros(1)
            if table.columns[j].kind == "categorical":
                centre[index], scale[index] = centre_and_scale(numbers)
            edges[index] = _quantiles(numbers, settings.bins)
            positions = _positions(numbers, edges[index])
            for start in range(settings.bins):
                means[index, start] = np.clip(positions - start, 0, 1).mean()
        return cls(
            columns=table.columns,
            target=table.target,
            numeric=numeric,
            categorical=categorical,
            centre=centre,
            scale=scale,
            edges=edges,
            means=means,
        )

    @property
    def features(self) -> tuple[int, ...]:
        """Indices of the columns other than the target (d)."""
        indices = range(len(self.columns))
        return tuple(j for j in indices if j != self.target)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of levels of the categorical columns (c)."""
        return tuple(self.columns[j].size for j in self.categorical)

    @property
    def classes(self) -> int:
        """Number of classes; 1 in regression."""
        return self.columns[self.target].size

    @property
    def statistics(self) -> Statistics:
        """Centre and scale of all columns; 0 and 1 of categorical ones."""
        centre = np.zeros(len(self.columns))
        scale = np.ones(len(self.columns))
        encoded = (*self.numeric, self.target)
        for index, j in enumerate(encoded):
            if self.columns[j].kind == "continuous":
                centre[j] = self.centre[index]
                scale[j] = self.scale[index]
        return Statistics(centre, scale)

    def among_features(self, columns: Sequence[int]) -> list[int]:
        """Indices of columns among the features."""
        features = self.features
        return [features.index(j) for j in columns]

    def encode(self, table: Table, rows: Rows = ALL_ROWS) -> Features:
        """Features of some rows of a table with these columns."""
        count = len(table.cells[self.target][rows])
        numbers = np.zeros((count, len(self.numeric)), np.float32)
        positions = np.zeros_like(numbers)
        for index, j in enumerate(self.numeric):
            values = _numbers(table, j, rows)
            centre = self.centre[index]
            numbers[:, index] = np.nan_to_num((values - centre) / self.scale[index])
            filled = np.nan_to_num(values, nan=centre)
            positions[:, index] = _positions(filled, self.edges[index])
        codes = np.zeros((count, len(self.categorical)), np.int64)
        for index, j in enumerate(self.categorical):
            codes[:, index] = np.maximum(table.cells[j][rows], 0)
        missing = np.zeros((count, len(self.features)), np.bool_)
        for index, j in enumerate(self.features):
            missing[:, index] = np.isnan(table.numbers(j, rows))
        return Features(*map(torch.from_numpy, (numbers, positions, codes, missing)))

    def labels(self, table: Table, rows: np.ndarray) -> Tensor:
        """What rows with known targets show: a standardised value (n, 1), or one-hot classes."""
        truth = table.numbers(self.target, rows)
        if self.columns[self.target].kind == "continuous":
            standardised = self.standardised(truth)
            values = torch.from_numpy(standardised.astype(np.float32))
            return values[:, None]
        codes = torch.from_numpy(truth.astype(np.int64))
        return torch.eye(self.classes)[codes]

    def standardised(self, values: np.ndarray) -> np.ndarray:
        """Values of the target, standardised."""
        return (values - self.centre[-1]) / self.scale[-1]

    def original(self, values: Tensor) -> Tensor:
        """Standardised values of the target in its units."""
        return values * self.scale[-1] + self.centre[-1]


def _numbers(
    table: Table,
    j: int,
    rows: Rows,
) -> np.ndarray:
    """Cells (n,) of a column as numbers: those that its levels name, if it is categorical."""
    values = table.numbers(j, rows)
    column = table.columns[j]
    if column.kind == "continuous":
        return values
    named = np.array([float(level) for level in column.levels])
    known = ~np.isnan(values)
    codes = values[known].astype(np.int64)
    values[known] = named[codes]
    return values


def _is_numeric(column: Column) -> bool:
    """Whether a column has numbers, or more than two levels, all of them finite numbers."""
    if column.kind == "continuous":
        return True
    if column.size < 3:
        return False
    try:
        numbers = [float(level) for level in column.levels]
    except ValueError:
        return False
    return bool(np.isfinite(numbers).all())


def _quantiles(numbers: np.ndarray, bins: int) -> np.ndarray:
    """Edges (b + 1) of bins of equal counts, without repetitions except of the last one."""
    levels = np.linspace(0, 1, bins + 1)
    edges = np.unique(np.quantile(numbers, levels))
    if len(edges) < 2:
        edges = np.array([edges[0], edges[0] + 1.0])
    unused = bins + 1 - len(edges)
    return np.pad(edges, (0, unused), mode="edge")


def _positions(numbers: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Piecewise-linear positions (n,) among edges: 0 at the first one, 1 at the second."""
    distinct = np.unique(edges)
    indices = np.arange(len(distinct))
    return np.interp(numbers, distinct, indices)
