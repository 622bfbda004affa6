"""From the frame a dataset file reads to a checked `Table`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npt.datasets.declaration import Dataset
from npt.interface import Column, Table, UserError

if TYPE_CHECKING:
    import pandas as pd


def assemble(frame: pd.DataFrame, dataset: Dataset) -> Table:
    """Encode categories as codes of their sorted levels and assert what the dataset declares.

    Raises:
        UserError: rows, columns, classes or the deviation of the target are not the declared ones.
    """
    names = [str(name) for name in frame.columns]
    for name in (dataset.target, *dataset.categorical):
        if name not in names:
            raise UserError(f"{dataset.name}: column {name!r} is declared and not in the file; it has {', '.join(names)}")
    columns, values = [], np.empty(frame.shape, np.float64)
    for j, name in enumerate(frame.columns):
        column, values[:, j] = _encode(frame[name], str(name), name in dataset.categorical)
        columns.append(column)
    table = Table(tuple(columns), values, list(frame.columns).index(dataset.target))
    _check(table, dataset)
    return table


def _encode(series: pd.Series, name: str, categorical: bool) -> tuple[Column, np.ndarray]:
    import pandas as pd

    if not categorical:
        try:
            return Column(name, "continuous"), pd.to_numeric(series).to_numpy(np.float64, na_value=np.nan)
        except (ValueError, TypeError) as error:
            raise UserError(f"column {name!r} holds text ({error}); declare it under `categorical`") from None
    codes, levels = pd.factorize(series, sort=True)
    return Column(name, "categorical", tuple(str(level) for level in levels)), np.where(codes < 0, np.nan, codes)


def _check(table: Table, dataset: Dataset) -> None:
    found: dict[str, object] = {"rows": table.rows, "columns": len(table.columns), "task": table.task}
    declared: dict[str, object] = {"rows": dataset.rows, "columns": dataset.columns, "task": dataset.task}
    if dataset.class_counts:
        declared["class counts"] = dataset.class_counts
        found["class counts"] = tuple(int(n) for n in np.unique(table.truth, return_counts=True)[1])
    if dataset.target_sigma is not None:
        sigma = float(np.nanstd(table.truth))
        declared["target deviation"] = dataset.target_sigma
        found["target deviation"] = dataset.target_sigma if np.isclose(sigma, dataset.target_sigma, rtol=1e-12) else sigma
    for fact, value in declared.items():
        if found[fact] != value:
            raise UserError(f"{dataset.name}: {fact} of the file: {found[fact]}, declared: {value}")
