"""Which columns of a frame are categories and which are numbers, and whether their cells make sense."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from npt.interface import UserError
from npt.table import Kind

if TYPE_CHECKING:
    import pandas as pd

FEW_LEVELS = 50
FEW_NUMBERS = 10
LARGEST = 1e100
EXACT = 2**53


@dataclass(frozen=True)
class Inferred:
    """A frame whose cells are numbers, or text or numbers where `categorical`."""

    frame: pd.DataFrame
    categorical: tuple[str, ...]


def kind_of(series: pd.Series) -> Kind:
    """Numbers are continuous, text, categories and booleans categorical; a column without any cell is continuous."""
    import pandas as pd

    if series.notna().sum() == 0:
        return "continuous"
    numeric = pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series)
    return "continuous" if numeric else "categorical"


def infer(
    frame: pd.DataFrame, categorical: Collection[str], continuous: Collection[str]
) -> Inferred:
    """Find the kind of every column, which `categorical` and `continuous` override, and check all.

    Raises:
        UserError: a column mixes numbers and text, is infinite somewhere, or looks like an identifier.
    """
    import pandas as pd

    columns, kinds = {}, {}
    for name in frame.columns:
        series, declared = frame[name], name in categorical
        kinds[name] = (
            "categorical" if declared else "continuous" if name in continuous else kind_of(series)
        )
        if kinds[name] == "continuous":
            columns[name] = _numbers(series, name)
        else:
            columns[name] = _classes(series, name)
            if not declared:
                _check_levels(columns[name], name)
    return Inferred(
        pd.DataFrame(columns), tuple(name for name, kind in kinds.items() if kind == "categorical")
    )


def _numbers(series: pd.Series, name: str) -> pd.Series:
    import pandas as pd

    try:
        numbers = pd.to_numeric(series.astype(object) if series.dtype == bool else series)
    except (ValueError, TypeError):
        wrong = series[pd.to_numeric(series, errors="coerce").isna() & series.notna()]
        found = f"{wrong.iloc[0]!r} in row {wrong.index[0] + 1}" if len(wrong) else "something else"
        raise UserError(f"column {name!r} should hold numbers and has {found}") from None
    plain = np.abs(numbers.to_numpy(np.float64, na_value=np.nan))
    if (infinite := np.isinf(plain)).any():
        raise UserError(
            f"column {name!r} has {infinite.sum()} infinite values, the first in row {int(infinite.argmax()) + 1}; "
            "leave missing cells empty"
        )
    if (plain > LARGEST).any():
        raise UserError(
            f"column {name!r} has numbers beyond 1e100, the first in row {int((plain > LARGEST).argmax()) + 1}"
        )
    if numbers.dtype.kind in "iu" and (plain > EXACT).any():
        raise UserError(
            f"column {name!r} has whole numbers beyond 2^53, the first in row {int((plain > EXACT).argmax()) + 1}, which are "
            "not exact; put an identifier under `drop`, a class under `categorical`"
        )
    return numbers


def _classes(series: pd.Series, name: str) -> pd.Series:
    """Categories as text, or as numbers where they are, which sort otherwise; whole ones are written without a point."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(series) or not pd.api.types.is_numeric_dtype(series):
        text = series.map(str, na_action="ignore").astype(object)
        levels = text.dropna().unique()
        whole = len(levels) and all(
            level.removeprefix("-").isdecimal() and len(level) < 16 for level in levels
        )
        return (
            text.map(int, na_action="ignore").astype("Int64")
            if whole and all(str(int(v)) == v for v in levels)
            else text
        )
    if series.dtype.kind != "f":
        return series
    known = series.dropna().to_numpy(np.float64)
    if np.isinf(known).any():
        raise UserError(f"column {name!r} has infinite values, which are no classes")
    return (
        series.astype("Int64")
        if (np.abs(known) < EXACT).all() and (known % 1 == 0).all()
        else series
    )


def _check_levels(series: pd.Series, name: str) -> None:
    """Text that is mostly numbers, numbers in another style, or mostly different was hardly meant to be a category."""
    import pandas as pd

    known = series.dropna()
    if pd.api.types.is_numeric_dtype(series):
        return
    levels = pd.Series(known.unique())
    for mark, meaning in ((",", "."), (",", ""), ("%", ""), ("$", ""), ("€", "")):
        marked = levels.str.contains(mark, regex=False)
        bare = pd.to_numeric(
            levels.str.replace(mark, meaning, regex=False).str.strip(), errors="coerce"
        )
        if marked.any() and bare.notna().all():
            raise UserError(
                f"column {name!r} holds numbers such as {levels[marked].iloc[0]!r}; write them with a decimal point and "
                "nothing else, or put the column under `categorical`"
            )
    numeric = pd.to_numeric(known, errors="coerce").notna()
    several = known[numeric].nunique() >= FEW_NUMBERS and numeric.mean() >= 0.1
    if 0 < numeric.sum() < len(known) and (several or len(known) <= 2 * numeric.sum()):
        odd = known[~numeric]
        raise UserError(
            f"column {name!r} mixes numbers and text: {numeric.sum()} of {len(known)} cells are numbers, {odd.iloc[0]!r} in "
            f"row {odd.index[0] + 1} is not; put it under `missing`, or the column under `categorical`"
        )
    if len(levels) > FEW_LEVELS and len(levels) > len(known) / 2:
        raise UserError(
            f"column {name!r} is text with {len(levels)} different values in {len(known)} rows, an identifier or free text; "
            "put it under `drop`, or under `categorical`"
        )
