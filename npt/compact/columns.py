"""Tables as tensors for compact NPT: numbers with their position among quantiles, and categories.

N rows, d features, of which q are embedded as numbers and c as categories; a category whose levels
are numbers can be both. b bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from npt.compact.settings import CompactSettings
from npt.data.encoding import Statistics, centre_and_scale, statistics
from npt.table import ALL_ROWS, Column, Split, Table

Rows = np.ndarray | slice


class Features(NamedTuple):
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

    def take(self, rows: Tensor) -> Features:
        """Some rows; of rows (..., n), features (..., n, columns)."""
        return Features(*(part[rows] for part in self))

    def to(self, device: torch.device, kind: torch.dtype) -> Features:
        """The same on a device, with numbers of a type."""
        numbers = (self.numbers.to(device, kind), self.positions.to(device, kind))
        return Features(*numbers, self.codes.to(device), self.missing.to(device))


@dataclass(frozen=True)
class Encoder:
    """How the columns of a table are encoded; it is learned from one table and applied to others.

    Attributes:
        columns: All columns of the table.
        target: Index of the target.
        statistics: Centre and scale of all columns. Those of a category are of the numbers that
            its levels name, or 0 and 1.
        edges: Quantiles (q, b + 1) of the numeric columns, in original units; the last one is
            repeated in columns with fewer bins.
        means: Mean share (q, b) of the bins that lies below a number of the column.
    """

    columns: tuple[Column, ...]
    target: int
    statistics: Statistics
    edges: np.ndarray
    means: np.ndarray

    @classmethod
    def from_table(cls, table: Table, split: Split, settings: CompactSettings) -> Encoder:
        """Learn scales from all rows, or the train rows; the target's are of the train rows."""
        rows = ALL_ROWS if settings.transductive else split.train
        known = statistics(table, split, transductive=settings.transductive)
        edges = []
        means = []
        for j in table.features:
            if not _is_numeric(table.columns[j]):
                continue
            numbers = _numbers(table, j, rows)
            numbers = numbers[~np.isnan(numbers)]
            if not len(numbers):
                numbers = np.zeros(1)
            if table.columns[j].kind == "categorical":
                known.centre[j], known.scale[j] = centre_and_scale(numbers)
            edges.append(_quantiles(numbers, settings.bins))
            positions = _positions(numbers, edges[-1])
            means.append([np.clip(positions - i, 0, 1).mean() for i in range(settings.bins)])
        return cls(
            columns=table.columns,
            target=table.target,
            statistics=known,
            edges=np.reshape(edges, (-1, settings.bins + 1)),
            means=np.reshape(means, (-1, settings.bins)),
        )

    @cached_property
    def features(self) -> list[int]:
        """Indices of the columns other than the target (d)."""
        return [j for j in range(len(self.columns)) if j != self.target]

    @cached_property
    def numeric(self) -> list[int]:
        """Indices of the columns embedded as numbers (q)."""
        return [j for j in self.features if _is_numeric(self.columns[j])]

    @cached_property
    def categorical(self) -> list[int]:
        """Indices of those embedded as categories (c)."""
        return [j for j in self.features if self.columns[j].kind == "categorical"]

    @property
    def classes(self) -> int:
        """Number of classes; 1 in regression."""
        return self.columns[self.target].size

    def encode(self, table: Table, rows: Rows = ALL_ROWS) -> Features:
        """Features of some rows of a table with these columns."""
        count = len(table.cells[self.target][rows])
        numbers = np.zeros((count, len(self.numeric)), np.float32)
        positions = np.zeros_like(numbers)
        for index, j in enumerate(self.numeric):
            values = _numbers(table, j, rows)
            numbers[:, index] = np.nan_to_num(self.statistics.standardised(values, j))
            positions[:, index] = _positions(np.nan_to_num(values), self.edges[index])
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
            standardised = self.statistics.standardised(truth, self.target)
            return torch.from_numpy(standardised.astype(np.float32))[:, None]
        codes = torch.from_numpy(truth.astype(np.int64))
        return torch.eye(self.classes)[codes]


def _numbers(table: Table, j: int, rows: Rows) -> np.ndarray:
    """Cells (n,) of a column as numbers: those that its levels name, if it is categorical."""
    column = table.columns[j]
    if column.kind == "continuous":
        return table.numbers(j, rows)
    named = np.array([*column.levels, "nan"], dtype=np.float64)
    return named[table.cells[j][rows]]  # the code of a missing cell is -1, the last index


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
