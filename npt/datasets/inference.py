"""Which columns of a frame are categories and which are numbers, and whether their cells make sense."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from npt.interface import Kind, UserError

if TYPE_CHECKING:
    import pandas as pd

FEW_LEVELS = 50


@dataclass(frozen=True)
class Inferred:
    """A frame whose cells are numbers, or text or numbers where `categorical`; `dates` have become seconds."""

    frame: pd.DataFrame
    categorical: tuple[str, ...]
    dates: tuple[str, ...]


def kind_of(series: pd.Series) -> Kind:
    """Numbers and dates are continuous, text, categories and booleans categorical; a column without any cell is continuous."""
    import pandas as pd

    if series.notna().sum() == 0:
        return "continuous"
    if pd.api.types.is_bool_dtype(series) or not (
        pd.api.types.is_numeric_dtype(series) or pd.api.types.is_datetime64_any_dtype(series)
    ):
        return "categorical"
    return "continuous"


def infer(frame: pd.DataFrame, categorical: Collection[str], continuous: Collection[str], classes: Collection[str]) -> Inferred:
    """Find the kind of every column that is not named, and check all.

    `categorical` and `continuous` override; `classes` are targets that are categories whatever they hold.

    Raises:
        UserError: a column mixes numbers and text, is infinite somewhere, or looks like an identifier.
    """
    import pandas as pd

    columns, kinds, dates = {}, {}, []
    for name in frame.columns:
        series = frame[name]
        declared = name in categorical or name in classes
        kinds[name] = "categorical" if declared else "continuous" if name in continuous else kind_of(series)
        if pd.api.types.is_datetime64_any_dtype(series) and not declared:
            series = (series - pd.Timestamp(0, tz=series.dt.tz)).dt.total_seconds()
            dates.append(name)
        if kinds[name] == "continuous":
            columns[name] = _numbers(series, name)
        else:
            columns[name] = _classes(series)
            if not declared:
                _check_levels(columns[name], name)
    found = pd.DataFrame(columns)
    return Inferred(found, tuple(name for name, kind in kinds.items() if kind == "categorical"), tuple(dates))


def _numbers(series: pd.Series, name: str) -> pd.Series:
    import pandas as pd

    try:
        numbers = pd.to_numeric(series.astype(object) if series.dtype == bool else series)
    except (ValueError, TypeError):
        wrong = series[pd.to_numeric(series, errors="coerce").isna() & series.notna()]
        found = f"{wrong.iloc[0]!r} in row {wrong.index[0] + 1}" if len(wrong) else "something else"
        raise UserError(f"column {name!r} should hold numbers and has {found}") from None
    infinite = np.isinf(numbers.to_numpy(np.float64, na_value=np.nan))
    if infinite.any():
        raise UserError(
            f"column {name!r} has {infinite.sum()} infinite values, the first in row {int(infinite.argmax()) + 1}; "
            "leave missing cells empty"
        )
    return numbers


def _classes(series: pd.Series) -> pd.Series:
    """Categories as text, or as numbers, which sort otherwise; whole ones are written without a point."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series):
        return series.map(str, na_action="ignore").astype(object)
    known = series.dropna()
    return series.astype("Int64") if np.isfinite(known).all() and (known % 1 == 0).all() else series


def _check_levels(series: pd.Series, name: str) -> None:
    """Text that is mostly numbers, or mostly different, was hardly meant to be a category."""
    import pandas as pd

    known = series.dropna()
    numeric = pd.to_numeric(known, errors="coerce").notna()
    if 0 < numeric.sum() < len(known) <= 2 * numeric.sum():
        odd = known[~numeric]
        raise UserError(
            f"column {name!r} mixes numbers and text: {numeric.sum()} of {len(known)} cells are numbers, {odd.iloc[0]!r} in "
            f"row {odd.index[0] + 1} is not; put it under `missing`, or the column under `categorical`"
        )
    levels = known.nunique()
    if levels > FEW_LEVELS and levels > len(known) / 2:
        raise UserError(
            f"column {name!r} is text with {levels} different values in {len(known)} rows, an identifier or free text; put it "
            "under `drop`, or under `categorical`"
        )
