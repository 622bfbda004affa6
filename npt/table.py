"""A table of datapoints and a fold of it: what every method receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from npt.data.dtypes import code_type, smallest

Kind = Literal["categorical", "continuous"]
Task = Literal["binary", "multiclass", "regression"]
TASKS: tuple[Task, ...] = get_args(Task)


@dataclass(frozen=True)
class Column:
    """One column of a table; `levels` are the classes of a categorical column in ascending order."""

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Length of the column's encoding without the mask channel (C_j of the paper)."""
        return len(self.levels) if self.kind == "categorical" else 1


@dataclass(frozen=True)
class Image:
    """What the features of a table of images are: intensities, channel by channel, each row by row from the top left.

    `centre` and `scale` standardise each channel, in units of the intensities; without them each column is standardised.
    """

    channels: int
    height: int
    width: int
    centre: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()

    @property
    def intensities(self) -> int:
        """Number of features."""
        return self.channels * self.height * self.width


@dataclass(frozen=True)
class Table:
    """N rows by d columns, the target included.

    `cells` has an array (N,) for each column, each of a type as small as its content allows and possibly mapped from a file,
    so nothing writes into one: numbers of a continuous column, NaN where missing; codes into `levels` of a categorical one, -1
    where missing. A missing target is hidden: it is never shown and never scored.
    """

    columns: tuple[Column, ...]
    cells: tuple[np.ndarray, ...]
    target: int
    image: Image | None = None

    @classmethod
    def of(
        cls, columns: Sequence[Column], values: np.ndarray, target: int, image: Image | None = None
    ) -> Table:
        """A table of cells (N, d) float64 as `values` gives them."""
        return cls(
            tuple(columns),
            tuple(_compact(values[:, j], column) for j, column in enumerate(columns)),
            target,
            image,
        )

    @property
    def rows(self) -> int:
        """Number of rows, N."""
        return len(self.cells[self.target])

    def numbers(self, j: int, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """ModelInput of column `j` in `rows` as float64 (n,): numbers or class codes, NaN where missing."""
        cells = self.cells[j][rows]
        numbers = cells.astype(np.float64)
        if self.columns[j].kind == "categorical":
            numbers[cells < 0] = np.nan
        return numbers

    @property
    def values(self) -> np.ndarray:
        """A copy of all cells (N, d) as float64: numbers or class codes, NaN where missing."""
        return self.block(slice(None))

    def block(self, rows: np.ndarray | slice) -> np.ndarray:
        """A copy of the cells (n, d) of some rows as float64: numbers or class codes, NaN where missing."""
        return np.stack([self.numbers(j, rows) for j in range(len(self.columns))], axis=1)

    @property
    def task(self) -> Task:
        """What the target column asks for."""
        target = self.columns[self.target]
        if target.kind == "continuous":
            return "regression"
        return "binary" if target.size == 2 else "multiclass"

    @property
    def truth(self) -> np.ndarray:
        """Target values (N,): class codes or numbers, NaN where hidden."""
        return self.numbers(self.target)

    def with_numbers(self, j: int, numbers: np.ndarray) -> Table:
        """The same table with other cells in column `j`: numbers or class codes (N,), NaN where missing."""
        cells = list(self.cells)
        cells[j] = _compact(numbers, self.columns[j])
        return replace(self, cells=tuple(cells))

    def followed_by(self, other: Table) -> Table:
        """The rows of this table, then those of another with the same columns."""
        return replace(
            self,
            cells=tuple(np.concatenate(pair) for pair in zip(self.cells, other.cells, strict=True)),
        )

    def blind(self, rows: np.ndarray) -> Table:
        """The same table with the targets of `rows` removed."""
        return self.hide(rows, self.target)

    def hide(self, rows: np.ndarray | slice, j: int) -> Table:
        """The same table with the cells of `rows` in column `j` missing."""
        numbers = self.numbers(j)
        numbers[rows] = np.nan
        return self.with_numbers(j, numbers)


def _compact(numbers: np.ndarray, column: Column) -> np.ndarray:
    if column.kind == "continuous":
        return smallest(numbers)
    return np.where(np.isnan(numbers), -1, numbers).astype(code_type(column.size))


@dataclass(frozen=True)
class Split:
    """One fold: sorted, disjoint row numbers that together are all rows of the table."""

    fold: int
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    def part(self) -> np.ndarray:
        """Part of every row (N,) int64: 0 train, 1 validation, 2 test."""
        part = np.empty(len(self.train) + len(self.validation) + len(self.test), np.int64)
        for code, rows in enumerate((self.train, self.validation, self.test)):
            part[rows] = code
        return part
