"""Table to numbers: standardisation and one-hot codes, with statistics from rows that may be seen (paper Appendix C.4).

N rows, d columns with the target, C_j length of column j's encoding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npt.interface import Split, Table


@dataclass(frozen=True)
class Statistics:
    """Centre and scale (d,) of every column; 0 and 1 for categorical ones."""

    centre: np.ndarray
    scale: np.ndarray


def statistics(table: Table, split: Split, *, transductive: bool = True) -> Statistics:
    """Mean and population standard deviation of the non-missing cells; a constant column has scale 1.

    Features use all rows (train rows only if not transductive), the target train rows only.
    """
    centre, scale = np.zeros(len(table.columns)), np.ones(len(table.columns))
    for j, column in enumerate(table.columns):
        if column.kind == "categorical":
            continue
        rows = split.train if j == table.target or not transductive else slice(None)
        cells = table.values[rows, j]
        cells = cells[~np.isnan(cells)]
        if len(cells):
            constant = cells.min() == cells.max()
            centre[j], scale[j] = (cells[0], 1.0) if constant else (cells.mean(), cells.std())
    return Statistics(centre, scale)


def standardised(table: Table, known: Statistics) -> np.ndarray:
    """Cells (N, d): standardised numbers, unchanged class codes, NaN where missing."""
    return (table.values - known.centre) / known.scale


def one_hot_features(table: Table, known: Statistics) -> np.ndarray:
    """Features (N, sum of C_j): one-hot classes and standardised numbers; a missing cell is zeros."""
    cells = standardised(table, known)
    blocks = []
    for j, column in enumerate(table.columns):
        if j == table.target:
            continue
        if column.kind == "categorical":
            blocks.append((cells[:, j, None] == np.arange(column.size)).astype(np.float64))
        else:
            blocks.append(np.nan_to_num(cells[:, j, None], nan=0.0))
    return np.concatenate(blocks, axis=1)


@dataclass(frozen=True)
class CodedFeatures:
    """Features (N, d - 1) with categories as codes; a missing category is one code more, a missing number is 0.

    `categorical` are the positions of the categorical columns, `sizes` their numbers of codes.
    """

    values: np.ndarray
    categorical: list[int]
    sizes: list[int]


def coded_features(table: Table, known: Statistics) -> CodedFeatures:
    """Features for methods that embed categories themselves."""
    cells = standardised(table, known)
    kept = [j for j in range(len(table.columns)) if j != table.target]
    categorical = [i for i, j in enumerate(kept) if table.columns[j].kind == "categorical"]
    fill = np.array([table.columns[j].size if table.columns[j].kind == "categorical" else 0.0 for j in kept])
    values = np.where(np.isnan(cells[:, kept]), fill, cells[:, kept])
    return CodedFeatures(values, categorical, [table.columns[kept[i]].size + 1 for i in categorical])
