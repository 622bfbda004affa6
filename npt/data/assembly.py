"""From the frames that a dataset file reads to a checked `Table` of compact columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import pandas as pd

from npt.data.declaration import Dataset
from npt.data.dtypes import code_type, smallest
from npt.errors import UserError, errors_at
from npt.table import Column, Table


def assemble(frames: pd.DataFrame | Iterable[pd.DataFrame], dataset: Dataset) -> Table:
    """The table of a declared dataset, whose declared facts are checked.

    Args:
        frames: All rows, or parts of them. One part at a time is in memory with the table.

    Raises:
        UserError: A declared column is absent, a column of numbers holds text, or rows, columns,
            classes or the deviation of the target are not the declared ones.
    """
    parts = [frames] if isinstance(frames, pd.DataFrame) else frames
    cells_of: dict[str, list[np.ndarray]] = {}
    code_of: dict[str, dict[Hashable, int]] = {name: {} for name in dataset.categorical}
    for part in parts:
        names = [str(column) for column in part.columns]
        for declared in (dataset.target, *dataset.categorical):
            if declared not in names:
                raise UserError(
                    f"{dataset.name}: column {declared!r} is declared and not in the file; "
                    f"columns: {', '.join(names)}"
                )
        for name in names:
            is_category = name in code_of
            with errors_at(dataset.name):
                cells = _codes(part[name], code_of[name]) if is_category else _numbers(part[name])
            cells_of.setdefault(name, []).append(cells)
    columns = []
    arrays = []
    for name in list(cells_of):
        cells = np.concatenate(cells_of.pop(name))  # frees each column's memory
        if name in code_of:
            ranks, levels = pd.factorize(pd.Series(list(code_of[name])), sort=True)
            rank_of = np.append(ranks, -1).astype(code_type(len(levels)))
            columns.append(Column(name, "categorical", tuple(str(level) for level in levels)))
            arrays.append(rank_of[cells])
        else:
            columns.append(Column(name, "continuous"))
            arrays.append(smallest(cells))
    target = [column.name for column in columns].index(dataset.target)
    table = Table(tuple(columns), tuple(arrays), target, dataset.image)
    _check(table, dataset)
    return table


def _numbers(series: pd.Series) -> np.ndarray:
    """Whole numbers, or others with NaN where missing, in the smallest exact type."""
    try:
        numbers = pd.to_numeric(series)
    except (ValueError, TypeError) as error:
        raise UserError(
            f"column {series.name!r} holds text ({error}); declare it under `categorical`"
        ) from None
    if numbers.dtype.kind in "iu" and not numbers.hasnans:
        return smallest(numbers.to_numpy())
    return smallest(numbers.to_numpy(np.float64, na_value=np.nan))


def _codes(series: pd.Series, code_of: dict[Hashable, int]) -> np.ndarray:
    """Codes in order of appearance, -1 where missing; new values are appended to `code_of`."""
    codes, levels = pd.factorize(series)
    known = []
    for level in levels:
        code = code_of.setdefault(level, len(code_of))
        known.append(code)
    known.append(-1)  # codes of missing cells are -1, the last index
    return np.array(known, code_type(len(code_of)))[codes]


def _check(table: Table, dataset: Dataset) -> None:
    _require("rows", table.rows, dataset.rows, dataset)
    _require("columns", len(table.columns), dataset.columns, dataset)
    _require("task", table.task, dataset.task, dataset)
    if dataset.class_counts:
        _, counts = np.unique(table.truth, return_counts=True)
        _require("class counts", tuple(counts.tolist()), dataset.class_counts, dataset)
    if dataset.target_sigma is not None:
        sigma = float(np.nanstd(table.truth))
        if not np.isclose(sigma, dataset.target_sigma, rtol=1e-12, atol=0):
            _require("target deviation", sigma, dataset.target_sigma, dataset)


def _require(fact: str, value: object, declared: object, dataset: Dataset) -> None:
    if value != declared:
        raise UserError(f"{dataset.name}: {fact} of the file: {value}, declared: {declared}")
