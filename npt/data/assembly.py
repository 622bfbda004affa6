"""From the frames a dataset file reads, whole or in parts, to a checked `Table` of compact columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from npt.data.declaration import Dataset
from npt.data.dtypes import code_type, smallest
from npt.interface import UserError
from npt.table import Column, Table

if TYPE_CHECKING:
    import pandas as pd


def assemble(read: pd.DataFrame | Iterable[pd.DataFrame], dataset: Dataset) -> Table:
    """Encode categories as codes of their sorted levels and assert what the dataset declares.

    Parts of the rows are encoded as they come, so that no more than one is in memory beside the table.

    Raises:
        UserError: rows, columns, classes or the deviation of the target are not the declared ones.
    """
    table = encode(read, dataset.categorical, dataset.target, dataset.name, rows=dataset.rows)
    table = replace(table, image=dataset.image)
    _check(table, dataset)
    return table


def encode(
    read: pd.DataFrame | Iterable[pd.DataFrame],
    categorical: Sequence[str],
    target: str,
    name: str,
    *,
    rows: int = 0,
) -> Table:
    """A table of the rows read, with the columns named encoded as categories; `rows` of them are expected.

    Raises:
        UserError: a column that is named is not in the file, or one that is not named holds text.
    """
    import pandas as pd

    growing: dict[str, _Numbers | _Codes] = {}
    for part in [read] if isinstance(read, pd.DataFrame) else read:
        names = [str(column) for column in part.columns]
        for wanted in (target, *categorical):
            if wanted not in names:
                raise UserError(
                    f"{name}: column {wanted!r} is declared and not in the file; it has {', '.join(names)}"
                )
        for column in names:
            if column not in growing:
                growing[column] = (_Codes if column in categorical else _Numbers)(column, rows)
            growing[column].add(part[column])
    finished = [growing.pop(column).finish() for column in list(growing)]
    columns = tuple(column for column, _ in finished)
    return Table(
        columns,
        tuple(cells for _, cells in finished),
        [column.name for column in columns].index(target),
    )


class _Growing:
    """An array that parts are appended to, in a type that holds them all; memory beyond what is filled is not touched."""

    def __init__(self, rows: int) -> None:
        self.array, self.filled = np.empty(rows, np.int8), 0

    def append(self, part: np.ndarray) -> None:
        kind, end = np.result_type(self.array, part), self.filled + len(part)
        if kind != self.array.dtype or end > len(self.array):
            larger = np.empty(max(end, len(self.array)), kind)
            larger[: self.filled] = self.array[: self.filled]
            self.array = larger
        self.array[self.filled : end] = part
        self.filled = end

    def whole(self) -> np.ndarray:
        return self.array[: self.filled]


class _Numbers:
    """A column of numbers that grows part by part."""

    def __init__(self, name: str, rows: int) -> None:
        self.name, self.cells = name, _Growing(rows)

    def add(self, series: pd.Series) -> None:
        import pandas as pd

        try:
            numbers = pd.to_numeric(series)
            whole = numbers.dtype.kind in "iu" and not numbers.hasnans
            self.cells.append(
                smallest(
                    numbers.to_numpy() if whole else numbers.to_numpy(np.float64, na_value=np.nan)
                )
            )
        except (ValueError, TypeError) as error:
            raise UserError(
                f"column {self.name!r} holds text ({error}); declare it under `categorical`"
            ) from None

    def finish(self) -> tuple[Column, np.ndarray]:
        return Column(self.name, "continuous"), smallest(self.cells.whole())


class _Codes:
    """A column of categories that grows part by part; codes are in order of appearance until it is finished."""

    def __init__(self, name: str, rows: int) -> None:
        self.name, self.cells, self.seen = name, _Growing(rows), dict[Hashable, int]()

    def add(self, series: pd.Series) -> None:
        import pandas as pd

        codes, levels = pd.factorize(series)
        known = np.array(
            [self.seen.setdefault(level, len(self.seen)) for level in levels] + [-1], np.int64
        )
        self.cells.append(known[codes].astype(code_type(len(self.seen))))

    def finish(self) -> tuple[Column, np.ndarray]:
        import pandas as pd

        if not self.seen:  # no cell to tell a category by
            return Column(self.name, "continuous"), np.full(self.cells.filled, np.nan, np.float32)
        order, levels = pd.factorize(pd.Series(list(self.seen)), sort=True)
        ranks = np.append(order, -1).astype(code_type(len(levels)))
        return Column(self.name, "categorical", tuple(str(level) for level in levels)), ranks[
            self.cells.whole()
        ]


def _check(table: Table, dataset: Dataset) -> None:
    found: dict[str, object] = {
        "rows": table.rows,
        "columns": len(table.columns),
        "task": table.task,
    }
    declared: dict[str, object] = {
        "rows": dataset.rows,
        "columns": dataset.columns,
        "task": dataset.task,
    }
    if dataset.class_counts:
        declared["class counts"] = dataset.class_counts
        found["class counts"] = tuple(int(n) for n in np.unique(table.truth, return_counts=True)[1])
    if dataset.target_sigma is not None:
        sigma = float(np.nanstd(table.truth))
        declared["target deviation"] = dataset.target_sigma
        found["target deviation"] = (
            dataset.target_sigma if np.isclose(sigma, dataset.target_sigma, rtol=1e-12) else sigma
        )
    for fact, value in declared.items():
        if found[fact] != value:
            raise UserError(f"{dataset.name}: {fact} of the file: {found[fact]}, declared: {value}")
