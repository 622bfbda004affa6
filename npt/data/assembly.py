"""From the frames that a dataset file reads to a checked `Table` of compact columns."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from npt.data.declaration import Dataset
from npt.data.dtypes import code_type, smallest
from npt.interface import UserError
from npt.table import Column, Table

if TYPE_CHECKING:
    import pandas as pd


def assemble(frames: pd.DataFrame | Iterable[pd.DataFrame], dataset: Dataset) -> Table:
    """The table of a declared dataset, whose declared facts are checked.

    Raises:
        UserError: Rows, columns, classes or the deviation of the target are not the declared ones.
    """
    table = encode(frames, dataset.categorical, dataset.target, dataset.name, rows=dataset.rows)
    table = replace(table, image=dataset.image)
    _check(table, dataset)
    return table


def encode(
    frames: pd.DataFrame | Iterable[pd.DataFrame],
    categorical: Collection[str],
    target: str,
    name: str,
    *,
    rows: int = 0,
) -> Table:
    """A table whose categories are codes of their sorted levels.

    Args:
        frames: All rows, or parts of them. One part at a time is in memory with the table.
        categorical: Names of the categorical columns.
        target: Name of the target column.
        name: Name of the dataset in error messages.
        rows: Expected number of rows.

    Raises:
        UserError: A declared column is absent, or a column of numbers holds text.
    """
    import pandas as pd

    parts = [frames] if isinstance(frames, pd.DataFrame) else frames
    builders: dict[str, _NumbersBuilder | _CodesBuilder] = {}
    for part in parts:
        names = [str(column) for column in part.columns]
        _require_columns((target, *categorical), names, name)
        for column in names:
            if column not in builders:
                builder = _CodesBuilder if column in categorical else _NumbersBuilder
                builders[column] = builder(column, rows)
            builders[column].add(part[column])
    columns = []
    cells = []
    for column in list(builders):
        finished, array = builders.pop(column).finish()  # frees each column's memory
        columns.append(finished)
        cells.append(array)
    index = [column.name for column in columns].index(target)
    return Table(tuple(columns), tuple(cells), index)


def _require_columns(declared: Iterable[str], names: list[str], dataset: str) -> None:
    for column in declared:
        if column not in names:
            raise UserError(
                f"{dataset}: column {column!r} is declared and not in the file; "
                f"columns: {', '.join(names)}"
            )


class _GrowingArray:
    """An array that parts are appended to, in a type that holds them all."""

    def __init__(self, capacity: int) -> None:
        self.array = np.empty(capacity, np.int8)  # takes no memory before it is filled
        self.filled = 0

    def append(self, part: np.ndarray) -> None:
        dtype = np.result_type(self.array, part)
        end = self.filled + len(part)
        if dtype != self.array.dtype or end > len(self.array):
            larger = np.empty(max(end, len(self.array)), dtype)
            larger[: self.filled] = self.content()
            self.array = larger
        self.array[self.filled : end] = part
        self.filled = end

    def content(self) -> np.ndarray:
        return self.array[: self.filled]


class _NumbersBuilder:
    """A continuous column that grows part by part."""

    def __init__(self, name: str, rows: int) -> None:
        self.name = name
        self.cells = _GrowingArray(rows)

    def add(self, series: pd.Series) -> None:
        try:
            numbers = _numbers(series)
        except (ValueError, TypeError) as error:
            raise UserError(
                f"column {self.name!r} holds text ({error}); declare it under `categorical`"
            ) from None
        self.cells.append(smallest(numbers))

    def finish(self) -> tuple[Column, np.ndarray]:
        return Column(self.name, "continuous"), smallest(self.cells.content())


def _numbers(series: pd.Series) -> np.ndarray:
    """Whole numbers as they are, others as float64 with NaN where missing."""
    import pandas as pd

    numbers = pd.to_numeric(series)
    if numbers.dtype.kind in "iu" and not numbers.hasnans:
        return numbers.to_numpy()
    return numbers.to_numpy(np.float64, na_value=np.nan)


class _CodesBuilder:
    """A categorical column that grows part by part.

    Codes are in order of appearance until it is finished.
    """

    def __init__(self, name: str, rows: int) -> None:
        self.name = name
        self.cells = _GrowingArray(rows)
        self.code_of: dict[Hashable, int] = {}

    def add(self, series: pd.Series) -> None:
        import pandas as pd

        codes, levels = pd.factorize(series)
        known = []
        for level in levels:
            code = self.code_of.setdefault(level, len(self.code_of))
            known.append(code)
        known.append(-1)  # codes of missing cells are -1, the last index
        recoded = np.array(known, np.int64)[codes]
        self.cells.append(recoded.astype(code_type(len(self.code_of))))

    def finish(self) -> tuple[Column, np.ndarray]:
        import pandas as pd

        if not self.code_of:  # an empty column has no levels
            missing = np.full(self.cells.filled, np.nan, np.float32)
            return Column(self.name, "continuous"), missing
        seen = pd.Series(list(self.code_of))
        ranks, levels = pd.factorize(seen, sort=True)
        rank_of = np.append(ranks, -1).astype(code_type(len(levels)))
        names = tuple(str(level) for level in levels)
        return Column(self.name, "categorical", names), rank_of[self.cells.content()]


def _check(table: Table, dataset: Dataset) -> None:
    _require("rows", table.rows, dataset.rows, dataset)
    _require("columns", len(table.columns), dataset.columns, dataset)
    _require("task", table.task, dataset.task, dataset)
    if dataset.class_counts:
        _, counts = np.unique(table.truth, return_counts=True)
        _require("class counts", tuple(counts.tolist()), dataset.class_counts, dataset)
    if dataset.target_sigma is not None:
        sigma = float(np.nanstd(table.truth))
        if not np.isclose(sigma, dataset.target_sigma, rtol=1e-12):
            _require("target deviation", sigma, dataset.target_sigma, dataset)


def _require(fact: str, value: object, declared: object, dataset: Dataset) -> None:
    if value != declared:
        raise UserError(f"{dataset.name}: {fact} of the file: {value}, declared: {declared}")
