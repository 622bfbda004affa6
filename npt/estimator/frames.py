"""From the X of scikit-learn to a table: numbers, dates as numbers, and categories by value.

n rows, d features.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from npt.data.custom.columns import plain_columns
from npt.data.custom.inference import MAX_NUMBER
from npt.estimator.arguments import is_whole_number
from npt.interface import UserError, unknown
from npt.table import Column, Table

FeatureKind = Literal["number", "date", "category"]
Level = bool | int | float | str

# Names of `pandas.api.types.infer_dtype`.
NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "empty")
DATES = ("datetime64", "datetime", "date")
REFUSED = ("complex", "timedelta64", "timedelta", "period", "interval", "time", "bytes")
ALLOWED = "numbers, text, booleans, categories and dates"


@dataclass(frozen=True)
class Feature:
    """How a column of X becomes a column of a table.

    Attributes:
        name: Its name, or its index.
        kind: Numbers, dates (seconds since 1970), or categories.
        levels: Values of a category, numbers in ascending order before text.
    """

    name: str
    kind: FeatureKind
    levels: tuple[Level, ...] = ()

    @property
    def column(self) -> Column:
        """The column of the table."""
        if self.kind == "category":
            return Column(self.name, "categorical", tuple(str(level) for level in self.levels))
        return Column(self.name, "continuous")

    def cells(self, series: pd.Series) -> np.ndarray:
        """Numbers or codes of levels (n,), NaN where missing or unknown to `levels`.

        Raises:
            ValueError: The column holds something else.
        """
        if self.kind == "category":
            return self._codes(series)
        if self.kind == "date":
            numbers = _seconds(series, self.name)
        else:
            numbers = _numbers(series, self.name)
        require_moderate(numbers, f"X: column {self.name!r}")
        return numbers

    def _codes(self, series: pd.Series) -> np.ndarray:
        codes, values = _factorized(series, self.name)
        # Equal values of several types have one code: 1, 1.0 and True, as in pandas.
        code_of = {level: code for code, level in enumerate(self.levels)}
        known = [code_of.get(value, np.nan) for value in values]
        known.append(np.nan)  # codes of missing cells are -1, the last index
        return np.array(known, np.float64)[codes]


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
    if not issparse(frame) and _mixes_text(frame):
        frame = np.asarray(frame, dtype=object)
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
    for place, name in enumerate(frame.columns):
        series = frame.iloc[:, place]
        features.append(_feature(series, str(name), declared=place in declared))
    return tuple(features)


def as_table(
    frame: pd.DataFrame,
    features: Sequence[Feature],
    target: np.ndarray,
    target_column: Column,
) -> Table:
    """A table of the features and, last, the target (n,) as numbers or codes of classes."""
    columns = [feature.column for feature in features]
    cells = []
    for place, feature in enumerate(features):
        cells.append(feature.cells(frame.iloc[:, place]))
    values = np.column_stack([*cells, target])
    return Table.of([*columns, target_column], values, len(features))


def require_moderate(numbers: np.ndarray, where: str) -> None:
    """Refuse infinite numbers, and those whose squares are.

    Raises:
        ValueError: `where` and what it has.
    """
    sizes = np.abs(numbers)
    if np.isinf(sizes).any():
        raise ValueError(f"{where} has infinite values")
    if (sizes > MAX_NUMBER).any():
        raise ValueError(f"{where} has numbers beyond {MAX_NUMBER:g}")


def _mixes_text(X: Any) -> bool:
    """Whether a list of rows holds text; as an array of one type, its numbers would be text too."""
    return isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "US"


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
            chosen.add(_place(int(column), len(names)))
        elif column in names:
            chosen.update(place for place, name in enumerate(names) if name == column)
        else:
            raise ValueError(f"categorical: column {unknown(column, map(str, names))}")
    return chosen


def _place(index: int, columns: int) -> int:
    if not -columns <= index < columns:
        raise ValueError(f"categorical: there is no column {index} of {columns}")
    return index % columns


def _feature(series: pd.Series, name: str, *, declared: bool) -> Feature:
    inferred = _inferred(series)
    if inferred in REFUSED:
        raise ValueError(f"X: column {name!r} holds {inferred}; allowed: {ALLOWED}")
    if inferred in DATES and not declared:
        return Feature(name, "date")
    if inferred in NUMBERS and not declared:
        return Feature(name, "number")
    _, values = _factorized(series, name)
    if not values:  # nothing but missing cells
        return Feature(name, "number")
    return Feature(name, "category", tuple(sorted(values, key=_rank)))


def _inferred(series: pd.Series) -> str:
    if series.isna().all():
        return "empty"
    return pd.api.types.infer_dtype(series, skipna=True)


def _rank(level: Level) -> tuple[bool, Level]:
    return isinstance(level, str), level


def _factorized(series: pd.Series, name: str) -> tuple[np.ndarray, list[Level]]:
    """Codes (n,), -1 where missing, and the values that they stand for, in order of appearance."""
    try:
        codes, values = pd.factorize(series.astype(object))
    except TypeError:
        known = [type(value) for value in series.dropna() if not pd.api.types.is_hashable(value)]
        raise TypeError(
            f"X: column {name!r} holds a {known[0].__name__}; its argument must be a string, a "
            "number, a boolean or a date"
        ) from None
    return codes, [_level(value) for value in values]


def _level(value: Any) -> Level:
    """A value as one that equals it; intervals and the like as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float):
        return value
    return str(value)


def _numbers(series: pd.Series, name: str) -> np.ndarray:
    where = f"X: column {name!r}"
    inferred = _inferred(series)
    if inferred in (*DATES, *REFUSED):
        raise ValueError(f"{where} holds {inferred}; fit had numbers")
    if not pd.api.types.is_numeric_dtype(series):
        series = series.astype(object)
    try:
        return series.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(f"{where} has values that are not numbers; fit had numbers") from None


def _seconds(series: pd.Series, name: str) -> np.ndarray:
    """Dates as seconds since 1970, as in custom datasets."""
    import pyarrow as pa

    inferred = _inferred(series)
    if inferred == "empty":
        return np.full(len(series), np.nan)
    if inferred not in DATES:
        raise ValueError(f"X: column {name!r} holds {inferred}; fit had dates")
    try:
        arrow = pa.table({name: pa.array(series, from_pandas=True)})
        table, _ = plain_columns(arrow, missing=(), as_text=())
    except (UserError, pa.ArrowException) as error:
        raise ValueError(f"X: column {name!r} has unreadable dates ({error})") from None
    return table.column(0).to_pandas().to_numpy(np.float64, na_value=np.nan)
