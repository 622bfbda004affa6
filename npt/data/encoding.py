"""Table to numbers: standardisation and one-hot codes (paper Appendix C.4).

N rows, d columns with the target, C_j length of column j's encoding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npt.table import ALL_ROWS, Split, Table


@dataclass(frozen=True)
class Statistics:
    """Centre and scale (d,) of every column; 0 and 1 for categorical ones."""

    centre: np.ndarray
    scale: np.ndarray

    def standardised(self, values: np.ndarray, j: int) -> np.ndarray:
        """Values in original units of column `j`, standardised; NaN where missing."""
        return (values - self.centre[j]) / self.scale[j]

    def original(self, values: np.ndarray, j: int) -> np.ndarray:
        """Standardised values of column `j` in its original units."""
        return values * self.scale[j] + self.centre[j]


def statistics(table: Table, split: Split, *, transductive: bool = True) -> Statistics:
    """Mean and population standard deviation of the known cells; a constant column has scale 1.

    Args:
        transductive: Whether features use all rows, as in the paper, or the train rows. The
            target uses the train rows only. Images that declare the centre and scale of their
            channels use those.
    """
    count = len(table.columns)
    centre = np.zeros(count)
    scale = np.ones(count)
    for j, column in enumerate(table.columns):
        if column.kind == "categorical":
            continue
        image = table.image
        if image and image.centre and j != table.target:
            feature = j - 1 if j > table.target else j
            channel = feature // (image.height * image.width)
            centre[j] = image.centre[channel]
            scale[j] = image.scale[channel]
            continue
        all_rows = transductive and j != table.target
        numbers = table.numbers(j, ALL_ROWS if all_rows else split.train)
        known = numbers[~np.isnan(numbers)]
        if len(known):
            centre[j], scale[j] = centre_and_scale(known)
    return Statistics(centre, scale)


def centre_and_scale(numbers: np.ndarray) -> tuple[float, float]:
    """Mean and population standard deviation; the scale of equal numbers is 1."""
    if numbers.min() == numbers.max():
        return numbers[0], 1.0
    scale = numbers.std()
    if not scale > 0:  # the squares of numbers this small are zero
        largest = np.abs(numbers).max()
        scale = (numbers / largest).std() * largest or 1.0
    return numbers.mean(), scale


def _filled(table: Table, known: Statistics, j: int, missing: float) -> np.ndarray:
    """Standardised cells (N,) in which missing ones are `missing`."""
    numbers = known.standardised(table.numbers(j), j)
    return np.where(np.isnan(numbers), missing, numbers)


def one_hot_features(table: Table, known: Statistics, *, missing: float = 0.0) -> np.ndarray:
    """Features (N, sum of C_j): one-hot classes and standardised numbers.

    A missing category is all zeros.

    Args:
        missing: Value of a missing number: 0, the mean of the column, or NaN.
    """
    width = sum(table.columns[j].size for j in table.features)
    encoded = np.zeros((table.rows, width))
    start = 0
    for j in table.features:
        column = table.columns[j]
        if column.kind == "categorical":
            codes = table.cells[j]
            rows = np.flatnonzero(codes >= 0)
            positions = start + codes[rows].astype(np.int64)
            encoded[rows, positions] = 1.0
        else:
            encoded[:, start] = _filled(table, known, j, missing)
        start += column.size
    return encoded


def coded_features(table: Table, known: Statistics, *, missing: float = 0.0) -> np.ndarray:
    """Features (N, d - 1) with categories as codes; a missing category is one more code.

    Args:
        missing: Value of a missing number.
    """
    values = np.empty((table.rows, len(table.features)))
    for i, j in enumerate(table.features):
        column = table.columns[j]
        if column.kind == "categorical":
            codes = table.cells[j]
            values[:, i] = np.where(codes < 0, column.size, codes)
        else:
            values[:, i] = _filled(table, known, j, missing)
    return values
