"""The one reader of columns: pandas to numbers, dates as seconds, and categories by value.

n rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from npt.errors import UserError
from npt.table import Column, Table

FeatureKind = Literal["number", "date", "category"]
Level = bool | int | float | str

# Names of `pandas.api.types.infer_dtype`.
NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
DATES = ("datetime64", "datetime", "date")
REFUSED = ("complex", "timedelta64", "timedelta", "period", "interval", "time", "bytes")
ALLOWED = "numbers, text, booleans, categories and dates"
MAX_NUMBER = 1e100  # squares of larger numbers are infinite
MAX_EXACT = 2**53


class CollectionError(UserError):
    """A cell holds a list, a mapping or the like."""


@dataclass(frozen=True)
class Feature:
    """How a column of a frame becomes a column of a table.

    Attributes:
        name: Its name, or its index.
        kind: Numbers, dates (seconds since 1970), or categories.
        levels: Values of a category, numbers in ascending order before text. Without any, all
            cells are missing.
    """

    name: str
    kind: FeatureKind
    levels: tuple[Level, ...] = ()

    @classmethod
    def from_series(cls, series: pd.Series, name: str, *, categorical: bool = False) -> Feature:
        """Infer the kind of a column; text, booleans and pandas' categories are categories.

        Args:
            categorical: Whether numbers and dates are categories, too.

        Raises:
            UserError: The column holds something else.
        """
        inferred = _inferred(series)
        if inferred in REFUSED:
            raise UserError(f"column {name!r} holds {inferred}; allowed: {ALLOWED}")
        if inferred in DATES and not categorical:
            return cls(name, "date")
        if inferred in NUMBERS and not categorical:
            return cls(name, "number")
        _, values = _factorized(series, name)
        numbers_first = sorted(values, key=lambda level: (isinstance(level, str), level))
        return cls(name, "category", tuple(numbers_first))

    @property
    def column(self) -> Column:
        """The column of the table."""
        if self.levels:
            return Column(self.name, "categorical", tuple(str(level) for level in self.levels))
        return Column(self.name, "continuous")

    def cells(self, series: pd.Series) -> np.ndarray:
        """Cells (n,) of the table's column; missing where they are, or unknown to `levels`.

        Raises:
            UserError: The column holds something else, or numbers that are too large.
        """
        if self.kind == "category":
            numbers = self._codes(series)
        else:
            numbers = self._numbers(series)
            require_moderate(numbers, f"column {self.name!r}")
        return self.column.compact(numbers)

    def _codes(self, series: pd.Series) -> np.ndarray:
        codes, values = _factorized(series, self.name)
        # Equal values of several types have one code: 1, 1.0 and True, as in pandas.
        code_of = {level: code for code, level in enumerate(self.levels)}
        known = [code_of.get(value, np.nan) for value in values]
        known.append(np.nan)  # codes of missing cells are -1, the last index
        return np.array(known, np.float64)[codes]

    def _numbers(self, series: pd.Series) -> np.ndarray:
        inferred = _inferred(series)
        if inferred == "empty":
            return np.full(len(series), np.nan)
        if (inferred in DATES) != (self.kind == "date") or inferred in REFUSED:
            raise UserError(f"column {self.name!r} holds {inferred}; fit had {self.kind}s")
        try:
            if self.kind == "date":
                return _seconds(series)
            if not pd.api.types.is_numeric_dtype(series):
                series = series.astype(object)
            return series.to_numpy(np.float64, na_value=np.nan)
        except (TypeError, ValueError, OverflowError):
            raise UserError(f"column {self.name!r} has values that are no {self.kind}s") from None


def require_moderate(numbers: np.ndarray, where: str) -> None:
    """Refuse infinite numbers, and those whose squares are.

    Raises:
        UserError: `where` and what it has.
    """
    wrong = np.abs(numbers) > MAX_NUMBER
    if wrong.any():
        raise UserError(
            f"{where} has infinite values, or numbers beyond {MAX_NUMBER:g}, "
            f"first in row {wrong.argmax() + 1}"
        )


def _inferred(series: pd.Series) -> str:
    if series.isna().all():
        return "empty"
    return pd.api.types.infer_dtype(series, skipna=True)


def _seconds(series: pd.Series) -> np.ndarray:
    if not pd.api.types.is_datetime64_any_dtype(series):
        series = series.astype(object)
    dates = pd.to_datetime(series, utc=True)
    epoch = pd.Timestamp(0, tz="UTC").as_unit("us")  # nanoseconds end in the year 2262
    return ((dates - epoch) / pd.Timedelta(1, "s")).to_numpy(np.float64)


def _factorized(series: pd.Series, name: str) -> tuple[np.ndarray, list[Level]]:
    """Codes (n,), -1 where missing, and the values that they stand for, in order of appearance."""
    try:
        codes, values = pd.factorize(series.astype(object))
    except TypeError:
        known = [type(value) for value in series.dropna() if not pd.api.types.is_hashable(value)]
        raise CollectionError(
            f"column {name!r} holds a {known[0].__name__}; its argument must be a string, a "
            "number, a boolean or a date"
        ) from None
    return codes, [_level(value) for value in values]


def _level(value: Any) -> Level:
    """A value as one that equals it; intervals and the like as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT:
        return int(value)
    if isinstance(value, bool | int | float):
        return value
    return str(value)


def features_of(table: Table) -> pd.DataFrame:
    """Features (N, d - 1) of a table as a frame, with categories by name."""
    return pd.DataFrame({table.columns[j].name: values_of(table, j) for j in table.features})


def values_of(table: Table, j: int) -> np.ndarray:
    """Numbers (N,) of a column, or names of its categories, None where missing."""
    column = table.columns[j]
    if column.kind == "continuous":
        return table.numbers(j)
    return np.array([*column.levels, None], dtype=object)[table.cells[j]]


def class_codes(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Index (n,) of each value among the classes, -1 for others; of any type of numbers or text."""
    return pd.Index(classes, dtype=object).get_indexer(pd.Index(values, dtype=object))
