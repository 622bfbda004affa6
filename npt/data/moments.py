"""When rows happened, from numbers, dates, or text in one way of writing dates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npt.interface import UserError

if TYPE_CHECKING:
    import pandas as pd

DAYS = (
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y",
    "%d-%b-%Y",
)  # fmt: skip
FORMATS = ("ISO8601", *(f"{day}{clock}" for day in DAYS for clock in ("", " %H:%M", " %H:%M:%S")))


def moments(series: pd.Series, name: str) -> np.ndarray:
    """Numbers (N,) that order the rows in time.

    Raises:
        UserError: a row has none, or text is no date, or dates in more than one way.
    """
    import pandas as pd

    numbers = series if pd.api.types.is_numeric_dtype(series) else _dates(series, name)
    found = numbers.to_numpy(np.float64, na_value=np.nan)
    if not np.isfinite(found).all():
        raise UserError(
            f"time: {name!r} is missing or infinite, first in row {int((~np.isfinite(found)).argmax()) + 1}"
        )
    return found


def _dates(series: pd.Series, name: str) -> pd.Series:
    """Seconds since 1970 by the one way of writing dates that fits every row."""
    import pandas as pd

    known = series.dropna()
    fitting = {}
    for way in FORMATS:
        if (
            len(known)
            and pd.to_datetime(known.iloc[:1], format=way, errors="coerce", utc=True).notna().all()
        ):
            parsed = pd.to_datetime(series, format=way, errors="coerce", utc=True)
            if parsed[known.index].notna().all():
                fitting[way] = parsed
    if not fitting:
        wrong = known[pd.to_datetime(known, format="ISO8601", errors="coerce", utc=True).isna()]
        if not len(wrong):
            raise UserError(f"time: {name!r} has no cell")
        raise UserError(
            f"time: {name!r} holds {wrong.iloc[0]!r} in row {wrong.index[0] + 1}, which is no number and no date"
        )
    parsed = next(iter(fitting.values()))
    if any(not other.equals(parsed) for other in fitting.values()):
        raise UserError(
            f"time: {name!r} can be read as {' and as '.join(fitting)}; write dates as 2001-12-31"
        )
    return (parsed - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
