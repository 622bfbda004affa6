"""The X of scikit-learn as a table: numbers, dates as numbers, and categories by value.

n rows, d features.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils._indexing import _get_column_indices
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from npt.data.frames import CollectionError, Feature
from npt.errors import UserError
from npt.table import Column, Table

FEW_CATEGORIES = 10
MARGIN = 0.1  # of the range of fitted numbers
FEWEST_BEYOND = 5  # new rows; fewer may be beyond by chance


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
        shape = np.broadcast_to(0.0, frame.shape)  # whose size is checked
        check_array(shape, ensure_min_samples=fewest, estimator=estimator)
        return frame
    if isinstance(frame, np.ma.MaskedArray):
        frame = np.ma.filled(frame.astype(np.float64), np.nan)
    mixes_text = isinstance(frame, list | tuple) and np.asarray(frame).dtype.kind in "US"
    if mixes_text:
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


def read_target(estimator: BaseEstimator, y: Any) -> np.ndarray:
    """Checked y (n,) of any type, without missing values."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None."
        )
    values = y if issparse(y) else np.asarray(y)  # scikit-learn refuses the first
    if np.ma.is_masked(y) or (values.dtype.kind in "OmM" and pd.isna(values).any()):
        raise ValueError("Input y contains NaN or another missing value.")
    any_type: Any = None  # which scikit-learn annotates as text
    values = check_array(
        values, dtype=any_type, ensure_2d=False, input_name="y", estimator=estimator
    )
    return column_or_1d(values, warn=True)


def read_groups(groups: Any, count: int, rows: np.ndarray) -> np.ndarray:
    """Codes of the groups of `rows`, which are some of `count` rows.

    Raises:
        ValueError: There is not a value for each row, or `rows` all have the same.
    """
    values = np.asarray(groups, dtype=object)  # text would make a missing value "nan"
    if values.shape not in ((count,), (count, 1)):
        raise ValueError(f"groups: shape {values.shape}; a value for each of {count} rows required")
    codes = pd.factorize(values.ravel())[0]
    if (codes < 0).any():
        raise ValueError(f"groups: the value of row {codes.argmin()} is missing")
    codes = codes[rows]
    if not np.ptp(codes):
        raise ValueError("groups: 1 group, at least 2 required")
    return codes


def learn_features(frame: pd.DataFrame, categorical: Any) -> tuple[Feature, ...]:
    """The features of a frame.

    Args:
        categorical: Names, indices or mask of columns that are categories; None adds none to
            those of text, booleans and pandas' categories.

    Raises:
        ValueError: A column is unknown, or holds values of another type.
        TypeError: A cell holds a collection.

    Warns:
        UserWarning: A column has more than ten different texts, in most rows another one.
    """
    declared: set[int] = set()
    if categorical is not None:
        keys = list(categorical) if isinstance(categorical, set) else categorical
        try:
            declared = set(_get_column_indices(frame, keys))
        except ValueError as error:
            raise ValueError(f"categorical: {error}") from None
    features = []
    with _errors_of_x():
        for j, name in enumerate(frame.columns):
            series = frame.iloc[:, j]
            is_declared = j in declared or isinstance(series.dtype, pd.CategoricalDtype)
            feature = Feature.from_series(series, str(name), categorical=is_declared)
            features.append(feature)
            different = len(feature.levels)
            if not is_declared and different > max(FEW_CATEGORIES, len(frame) / 2):
                warnings.warn(
                    f"X: column {feature.name!r} has {different} different texts in {len(frame)} "
                    "rows, each a category; convert numbers and dates, and drop names of rows",
                    stacklevel=3,
                )
    return tuple(features)


def as_table(
    frame: pd.DataFrame,
    features: Sequence[Feature],
    target: np.ndarray,
    target_column: Column,
) -> Table:
    """A table of the features and, last, the target (n,) as numbers or codes of classes.

    Raises:
        ValueError: The columns are those of `fit` in another order.

    Warns:
        UserWarning: No category of a column is known.
    """
    names = [str(name) for name in frame.columns]
    fitted = [feature.name for feature in features]
    if names != fitted and sorted(names) == sorted(fitted):
        raise ValueError(f"X: the columns are {names}, in another order than in fit: {fitted}")
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


def warn_beyond(rows: Table, fitted: Table) -> None:
    """Compare the numbers of new rows with those of fitted rows.

    Warns:
        UserWarning: Most known numbers of a column, and at least five, are far smaller or larger
            than all fitted ones.
    """
    for j in fitted.features:
        column = fitted.columns[j]
        if column.kind == "categorical":
            continue
        known, numbers = fitted.numbers(j), rows.numbers(j)
        smallest, largest = np.fmin.reduce(known), np.fmax.reduce(known)
        margin = MARGIN * (largest - smallest)
        beyond = np.sum((numbers < smallest - margin) | (numbers > largest + margin))
        present = np.count_nonzero(~np.isnan(numbers))
        if smallest < largest and beyond >= FEWEST_BEYOND and 2 * beyond > present:
            warnings.warn(
                f"X: column {column.name!r} has {beyond} of {present} numbers far beyond the "
                "fitted ones, where predictions and intervals are unreliable",
                stacklevel=4,
            )


@contextmanager
def _errors_of_x() -> Generator[None]:
    """Errors of the user inside the block as those that users of scikit-learn expect."""
    try:
        yield
    except CollectionError as error:
        raise TypeError(f"X: {error}") from None
    except UserError as error:
        raise ValueError(f"X: {error}") from None
