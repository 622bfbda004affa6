"""Table to numbers: standardisation and one-hot codes, with statistics from rows that may be seen (paper Appendix C.4).

N rows, d columns with the target, C_j length of column j's encoding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npt.table import Split, Table


@dataclass(frozen=True)
class Statistics:
    """Centre and scale (d,) of every column; 0 and 1 for categorical ones."""

    centre: np.ndarray
    scale: np.ndarray

    def original(self, values: np.ndarray, j: int) -> np.ndarray:
        """Standardised values of column `j` in its own units."""
        return values * self.scale[j] + self.centre[j]


def statistics(table: Table, split: Split, *, transductive: bool = True) -> Statistics:
    """Mean and population standard deviation of the non-missing cells; a constant column has scale 1.

    Features use all rows (train rows only if not transductive), the target train rows only. Images that state centre and scale
    of their channels take those.
    """
    centre, scale = np.zeros(len(table.columns)), np.ones(len(table.columns))
    for j, column in enumerate(table.columns):
        if column.kind == "categorical":
            continue
        if table.image and table.image.centre and j != table.target:
            channel = (j - (j > table.target)) // (table.image.height * table.image.width)
            centre[j], scale[j] = table.image.centre[channel], table.image.scale[channel]
            continue
        rows = split.train if j == table.target or not transductive else slice(None)
        cells = table.numbers(j, rows)
        cells = cells[~np.isnan(cells)]
        if len(cells):
            constant = cells.min() == cells.max()
            centre[j], scale[j] = (cells[0], 1.0) if constant else (cells.mean(), cells.std())
            if not scale[j] > 0:  # squares of numbers this small are zero
                largest = np.abs(cells).max()
                scale[j] = (cells / largest).std() * largest or 1.0
    return Statistics(centre, scale)


def standardised(table: Table, known: Statistics, j: int) -> np.ndarray:
    """ModelInput (N,) of a continuous column, standardised, NaN where missing."""
    numbers = table.numbers(j)
    numbers -= known.centre[j]
    numbers /= known.scale[j]
    return numbers


def one_hot_features(table: Table, known: Statistics, *, missing: float = 0.0) -> np.ndarray:
    """Features (N, sum of C_j): one-hot classes and standardised numbers.

    A missing category is zeros, a missing number is `missing`: 0, the column's mean, or NaN for what handles that itself.
    """
    features = [j for j in range(len(table.columns)) if j != table.target]
    encoded = np.zeros((table.rows, sum(table.columns[j].size for j in features)))
    place = 0
    for j in features:
        if table.columns[j].kind == "categorical":
            shown = np.flatnonzero(table.cells[j] >= 0)
            encoded[shown, place + table.cells[j][shown].astype(np.int64)] = 1.0
        else:
            numbers = standardised(table, known, j)
            encoded[:, place] = np.where(np.isnan(numbers), missing, numbers)
        place += table.columns[j].size
    return encoded


@dataclass(frozen=True)
class CodedFeatures:
    """Features (N, d - 1) with categories as codes; a missing category is one code more, a missing number is 0 or NaN.

    `categorical` are the positions of the categorical columns, `sizes` their numbers of codes.
    """

    values: np.ndarray
    categorical: list[int]
    sizes: list[int]


def coded_features(table: Table, known: Statistics, *, missing: float = 0.0) -> CodedFeatures:
    """Features for methods that embed categories themselves; `missing` stands for a missing number."""
    kept = [j for j in range(len(table.columns)) if j != table.target]
    categorical = [i for i, j in enumerate(kept) if table.columns[j].kind == "categorical"]
    values = np.empty((table.rows, len(kept)))
    for i, j in enumerate(kept):
        if i in categorical:
            values[:, i] = np.where(table.cells[j] < 0, table.columns[j].size, table.cells[j])
        else:
            numbers = standardised(table, known, j)
            values[:, i] = np.where(np.isnan(numbers), missing, numbers)
    return CodedFeatures(
        values, categorical, [table.columns[kept[i]].size + 1 for i in categorical]
    )
