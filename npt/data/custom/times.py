"""Times of rows, from numbers or dates."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from npt.interface import UserError

if TYPE_CHECKING:
    import pandas as pd

DAY = r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}"
RELATIVE_DATES = ("now", "today")  # pandas reads them as dates


def seconds(series: pd.Series, name: str) -> np.ndarray:
    """Numbers (N,) that order the rows in time: the series itself, or dates as seconds since 1970.

    Raises:
        UserError: A cell is missing or not a date, or the dates have more than one reading.
    """
    import pandas as pd

    holds_booleans = pd.api.types.infer_dtype(series, skipna=True) == "boolean"
    if holds_booleans or series.isin(RELATIVE_DATES).any():
        raise _unreadable(name)
    if not pd.api.types.is_numeric_dtype(series):
        dates = _from_text(series, name)
        epoch = pd.Timestamp(0, tz="UTC").as_unit("us")  # nanoseconds end in the year 2262
        series = (dates - epoch).dt.total_seconds()
    times = series.to_numpy(np.float64, na_value=np.nan)
    unusable = ~np.isfinite(times)
    if unusable.any():
        row = int(unusable.argmax()) + 1
        raise UserError(f"time: {name!r} is missing or infinite, first in row {row}")
    return times


def _from_text(series: pd.Series, name: str) -> pd.Series:
    dates = _in_one_style(series, name)
    before_christ = dates.dt.year < 1
    if before_christ.any():
        row = int(before_christ.to_numpy().argmax())
        raise UserError(f"time: {name!r}: {series.iloc[row]!r} in row {row + 1} is before year 1")
    return dates


def _in_one_style(series: pd.Series, name: str) -> pd.Series:
    standard = _dates(series, format="ISO8601")
    if standard is not None:
        return standard
    month_first = _dates(series, dayfirst=False)
    day_first = _dates(series, dayfirst=True)
    if month_first is None:
        month_first = day_first
    if month_first is None:
        raise _unreadable(name)
    if day_first is None:
        return month_first
    ambiguous = (month_first != day_first) & month_first.notna()
    if ambiguous.any():
        row = int(ambiguous.to_numpy().argmax())
        raise UserError(
            f"time: {name!r}: {series.iloc[row]!r} in row {row + 1} is "
            f"{month_first.iloc[row]:%Y-%m-%d} or {day_first.iloc[row]:%Y-%m-%d}; "
            "write dates as 2001-12-31"
        )
    return month_first


def are_dates(series: pd.Series) -> bool:
    """Whether all known cells of a column of text are written as days, such as 31/12/1960."""
    known = series.dropna()
    if not len(known) or not all(isinstance(cell, str) for cell in known):
        return False
    return bool(known.str.fullmatch(DAY).all())


def feature_seconds(series: pd.Series, name: str) -> pd.Series:
    """Dates as seconds since 1970, missing where a cell is.

    Raises:
        UserError: The dates have more than one reading.
    """
    import pandas as pd

    is_known = series.notna()
    try:
        known = seconds(series[is_known].reset_index(drop=True), name)
    except UserError as error:
        reason = str(error).removeprefix("time: ")
        raise UserError(f"column {reason}, or put it under `drop` or `categorical`") from None
    values = np.full(len(series), np.nan)
    values[is_known.to_numpy()] = known
    return pd.Series(values, series.index)


def _unreadable(name: str) -> UserError:
    return UserError(f"time: {name!r} is not a number or a date in every row")


def _dates(series: pd.Series, **style: Any) -> pd.Series | None:
    """Dates of a series in one style; None if a cell does not fit it."""
    import pandas as pd

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # pandas warns where it guesses cell by cell
            warnings.filterwarnings("ignore", message="Parsing dates in")
            return pd.to_datetime(series, utc=True, **style)
    except (ValueError, UserWarning):
        return None
