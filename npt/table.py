"""A table of datapoints and a fold of it: what every method receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from npt.data.dtypes import code_type, smallest

Kind = Literal["categorical", "continuous"]
Task = Literal["binary", "multiclass", "regression"]
Part = Literal["train", "validation", "test"]
TASKS: tuple[Task, ...] = get_args(Task)
PARTS: tuple[Part, ...] = get_args(Part)
HELD_OUT: tuple[Part, ...] = ("validation", "test")
ALL_ROWS = slice(None)


@dataclass(frozen=True)
class Column:
    """One column of a table; `levels` are the classes of a categorical one, in ascending order."""

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Length of the column's encoding without the mask channel (C_j of the paper)."""
        return len(self.levels) if self.kind == "categorical" else 1

    def compact(self, numbers: np.ndarray) -> np.ndarray:
        """Cells (N,) of the smallest exact type, of numbers or codes that are NaN where missing."""
        if self.kind == "continuous":
            return smallest(numbers)
        codes = np.where(np.isnan(numbers), -1, numbers)
        return codes.astype(code_type(self.size))


@dataclass(frozen=True)
class Image:
    """Layout of features that are intensities of pixels.

    Channel follows channel, each row by row from the top left. `centre` and `scale`
    standardise each channel, in units of the intensities. Without them each column is
    standardised.
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

    Attributes:
        columns: The d columns.
        cells: An array (N,) for each column, not to be changed, of the smallest exact type. A
            continuous column holds numbers, NaN where missing. A categorical column holds
            indices of `levels`, -1 where missing. A missing target is never shown to a method
            and never scored.
        target: Index of the target column.
        image: Layout of the features of a table of images.
        groups: Codes (N,) of rows that belong together, such as those of a patient; new rows are of
            other groups. None if each row is alone.
    """

    columns: tuple[Column, ...]
    cells: tuple[np.ndarray, ...]
    target: int
    image: Image | None = None
    groups: np.ndarray | None = None

    @classmethod
    def from_values(cls, columns: Sequence[Column], values: np.ndarray, target: int) -> Table:
        """A table of cells (N, d) float64 as in `values`."""
        cells = []
        for numbers, column in zip(values.T, columns, strict=True):
            cells.append(column.compact(numbers))
        return cls(tuple(columns), tuple(cells), target)

    @property
    def rows(self) -> int:
        """Number of rows, N."""
        return len(self.cells[self.target])

    @property
    def features(self) -> list[int]:
        """Indices of the columns other than the target."""
        return [j for j in range(len(self.columns)) if j != self.target]

    @property
    def task(self) -> Task:
        """Prediction task, from the target column."""
        target = self.columns[self.target]
        if target.kind == "continuous":
            return "regression"
        return "binary" if target.size == 2 else "multiclass"

    @property
    def truth(self) -> np.ndarray:
        """Target values (N,): class codes or numbers, NaN where hidden."""
        return self.numbers(self.target)

    @property
    def values(self) -> np.ndarray:
        """A copy of all cells (N, d) as float64: numbers or class codes, NaN where missing."""
        return np.stack([self.numbers(j) for j in range(len(self.columns))], axis=1)

    def numbers(self, j: int, rows: np.ndarray | slice = ALL_ROWS) -> np.ndarray:
        """Cells (n,) of column `j` as float64: numbers or class codes, NaN where missing."""
        cells = self.cells[j][rows]
        numbers = cells.astype(np.float64)
        if self.columns[j].kind == "categorical":
            numbers[cells < 0] = np.nan
        return numbers

    def labelled(self, rows: np.ndarray) -> np.ndarray:
        """Those of some rows whose target is known."""
        return rows[~np.isnan(self.numbers(self.target, rows))]

    def with_numbers(self, j: int, numbers: np.ndarray) -> Table:
        """A table with other cells (N,) in column `j`: numbers or codes, NaN where missing."""
        cells = list(self.cells)
        cells[j] = self.columns[j].compact(numbers)
        return replace(self, cells=tuple(cells))

    def without(self, j: int) -> Table:
        """A table without feature `j`."""
        columns, cells = (parts[:j] + parts[j + 1 :] for parts in (self.columns, self.cells))
        return replace(self, columns=columns, cells=cells, target=self.target - (j < self.target))

    def followed_by(self, other: Table) -> Table:
        """The rows of this table, then those of another with the same columns, without groups."""
        pairs = zip(self.cells, other.cells, strict=True)
        cells = tuple(np.concatenate(pair) for pair in pairs)
        return replace(self, cells=cells, groups=None)

    def take(self, rows: np.ndarray | slice) -> Table:
        """A table of some rows."""
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, cells=tuple(cells[rows] for cells in self.cells), groups=groups)

    def blind(self, rows: np.ndarray) -> Table:
        """A table with the targets of `rows` removed."""
        return self.hide(rows, self.target)

    def hide(self, rows: np.ndarray | slice, j: int) -> Table:
        """A table with the cells of `rows` in column `j` missing."""
        numbers = self.numbers(j)
        numbers[rows] = np.nan
        return self.with_numbers(j, numbers)


@dataclass(frozen=True)
class Split:
    """One fold: sorted, disjoint row numbers that together are all rows of the table."""

    fold: int
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    def rows(self, part: Part) -> np.ndarray:
        """Row numbers of a part."""
        return getattr(self, part)

    def drawn_train_rows(self, share: float) -> np.ndarray:
        """A random share of the train rows, at least one, in ascending order.

        A larger share has the rows of a smaller one, and more. The fold determines the order.
        """
        order = np.random.default_rng(self.fold).permutation(self.train)
        return np.sort(order[: max(1, round(share * len(order)))])

    def part(self) -> np.ndarray:
        """Part of every row (N,) int64: 0 train, 1 validation, 2 test."""
        count = len(self.train) + len(self.validation) + len(self.test)
        codes = np.empty(count, np.int64)
        for code, name in enumerate(PARTS):
            codes[self.rows(name)] = code
        return codes
