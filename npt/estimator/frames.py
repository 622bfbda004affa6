"""The X of scikit-learn as a table: numbers, dates as numbers, and categories by value.

n rows, d features.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from npt.data.frames import CollectionError, Feature
from npt.errors import UserError, unknown
from npt.estimator.arguments import is_whole_number
from npt.table import Column, Table


def read_frame(estimator: BaseEstimator, X: Any, *, reset: bool, fewest: int = 1) -> pd.DataFrame:
    """X as a frame (n, d); names and number of features are set, or compared with those of `fit`.

    Args:
        reset: Whether this is `fit`.
        fewest: Smallest number of rows.

    Raises:
        ValueError: X has another shape, infinite numbers, or other features than in `fit`.
        TypeError: X is sparse.
    """
    validate: Any = validate_data  # whose X scikit-learn annotates as text
    frame = X.to_pandas() if hasattr(X, "to_pandas") else X  # of polars or pyarrow
    if isinstance(frame, pd.DataFrame):
        validate(estimator, X=frame, reset=reset, skip_check_array=True)
        _require_size(estimator, frame, fewest)
        return frame
    if isinstance(frame, np.ma.MaskedArray):
        frame = np.ma.filled(frame.astype(np.float64), np.nan)
    mixes_text = isinstance(frame, list | tuple) and np.asarray(frame).dtype.kind in "US"
    if mixes_text and not issparse(frame):
        frame = np.asarray(frame, dtype=object)  # in an array of text, numbers would be text too
    array = validate(
        estimator,
        X=frame,
        reset=reset,
        dtype=None,
        ensure_all_finite="allow-nan",
        ensure_min_samples=fewest,
    )
    return pd.DataFrame(array)


def learn_features(frame: pd.DataFrame, categorical: Any) -> tuple[Feature, ...]:
    """The features of a frame.

    Args:
        categorical: Names or indices of columns that are categories; None adds none to those of
            text, booleans and pandas' categories.

    Raises:
        ValueError: A column is unknown, or holds values of another type.
        TypeError: A cell holds a collection.
    """
    declared = _declared(frame, categorical)
    features = []
    with _errors_of_x():
        for j, name in enumerate(frame.columns):
            feature = Feature.from_series(frame.iloc[:, j], str(name), categorical=j in declared)
            features.append(feature)
    return tuple(features)


def as_table(
    frame: pd.DataFrame,
    features: Sequence[Feature],
    target: np.ndarray,
    target_column: Column,
) -> Table:
    """A table of the features and, last, the target (n,) as numbers or codes of classes.

    Warns:
        UserWarning: No category of a column is known.
    """
    columns = [feature.column for feature in features]
    cells = []
    with _errors_of_x():
        for j, feature in enumerate(features):
            series = frame.iloc[:, j]
            codes = feature.cells(series)
            if feature.levels and (codes < 0).all() and series.notna().any():
                warnings.warn(
                    f"X: column {feature.name!r} has no category that fit has seen, such as "
                    f"{feature.levels[0]!r}; all are missing to the network",
                    stacklevel=2,
                )
            cells.append(codes)
    cells.append(target_column.compact(target))
    return Table((*columns, target_column), tuple(cells), len(features))


@contextmanager
def _errors_of_x() -> Generator[None]:
    """Errors of the user inside the block as those that users of scikit-learn expect."""
    try:
        yield
    except CollectionError as error:
        raise TypeError(f"X: {error}") from None
    except UserError as error:
        raise ValueError(f"X: {error}") from None


def _require_size(estimator: BaseEstimator, frame: pd.DataFrame, fewest: int) -> None:
    rows, columns = frame.shape
    for count, what, minimum in ((rows, "sample", fewest), (columns, "feature", 1)):
        if count < minimum:
            raise ValueError(
                f"Found array with {count} {what}(s) (shape={frame.shape}) while a minimum of "
                f"{minimum} is required by {type(estimator).__name__}."
            )


def _declared(frame: pd.DataFrame, categorical: Any) -> set[int]:
    """Indices of the columns that are declared as categories."""
    if categorical is None:
        return set()
    if isinstance(categorical, str) or not isinstance(categorical, Collection):
        raise ValueError(f"categorical: {categorical!r}; names or indices of columns are needed")
    names = list(frame.columns)
    chosen = set()
    for column in categorical:
        if is_whole_number(column):
            if not -len(names) <= column < len(names):
                raise ValueError(f"categorical: there is no column {column} of {len(names)}")
            chosen.add(int(column) % len(names))
        elif column in names and not isinstance(column, bool | np.bool):
            chosen.update(j for j, name in enumerate(names) if name == column)
        else:
            raise ValueError(f"categorical: column {unknown(column, map(str, names))}")
    return chosen
