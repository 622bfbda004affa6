"""Column types of a frame, and whether its cells fit them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from npt.interface import UserError
from npt.table import Kind

if TYPE_CHECKING:
    import pandas as pd

MAX_TEXT_LEVELS = 50
MIN_MIXED_NUMBERS = 10
MAX_NUMBER = 1e100  # squares of larger numbers are infinite
MAX_EXACT = 2**53
MAX_DIGITS = 15
SIGNS = "[%$€£¥]"


@dataclass(frozen=True)
class Inferred:
    """A frame of numbers, and of classes in the columns `categorical`."""

    frame: pd.DataFrame
    categorical: tuple[str, ...]


def kind_of(series: pd.Series) -> Kind:
    """Column type: numbers and empty columns are continuous, text and booleans categorical."""
    import pandas as pd

    if series.notna().sum() == 0:
        return "continuous"
    if pd.api.types.is_bool_dtype(series):
        return "categorical"
    return "continuous" if pd.api.types.is_numeric_dtype(series) else "categorical"


def infer(
    frame: pd.DataFrame, categorical: Collection[str], continuous: Collection[str]
) -> Inferred:
    """Infer the type of every column except those that are given, and check its cells.

    Raises:
        UserError: The column, if it mixes numbers and text, is infinite somewhere, or looks like
            an identifier.
    """
    import pandas as pd

    columns = {}
    classes = []
    for name in frame.columns:
        series = frame[name]
        declared = name in categorical
        if not declared and (name in continuous or kind_of(series) == "continuous"):
            columns[name] = _numbers(series, name)
            continue
        columns[name] = _classes(series, name)
        classes.append(name)
        if not declared:
            _check_text(columns[name], name)
    return Inferred(pd.DataFrame(columns), tuple(classes))


def _numbers(series: pd.Series, name: str) -> pd.Series:
    import pandas as pd

    try:
        numbers = pd.to_numeric(series.astype(object) if series.dtype == bool else series)
    except (ValueError, TypeError):
        wrong = series[pd.to_numeric(series, errors="coerce").isna() & series.notna()]
        cell = f"{wrong.iloc[0]!r} in row {wrong.index[0] + 1}" if len(wrong) else "something else"
        advice = _advice(str(wrong.iloc[0])) if len(wrong) else "put the column under `drop`"
        raise UserError(f"column {name!r} is continuous and has {cell}; {advice}") from None
    sizes = np.abs(numbers.to_numpy(np.float64, na_value=np.nan))
    _refuse(np.isinf(sizes), name, "infinite values", "leave missing cells empty")
    _refuse(sizes > MAX_NUMBER, name, "numbers beyond 1e100", "leave missing cells empty")
    if numbers.dtype.kind in "iu":
        advice = "put an identifier under `drop`, a class under `categorical`"
        _refuse(sizes > MAX_EXACT, name, "whole numbers beyond 2^53, which are not exact", advice)
    return numbers


def _advice(cell: str) -> str:
    """What to do about a cell that is no number."""
    if re.fullmatch(r"[-+]?[0-9.]*,[0-9]+", cell.strip()):
        return "is the comma its decimal point? Then say `decimal: ','`"
    if re.search(SIGNS, cell):
        return "write it as digits with a decimal point"
    return "put it under `missing` if it stands for a missing cell"


def _refuse(wrong: np.ndarray, name: str, found: str, advice: str) -> None:
    if wrong.any():
        row = int(wrong.argmax()) + 1
        raise UserError(
            f"column {name!r} has {found} in {wrong.sum()} rows, first in row {row}; {advice}"
        )


def _classes(series: pd.Series, name: str) -> pd.Series:
    """Classes as integers where all are whole numbers, so that they sort as numbers, or as text."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(series) or not pd.api.types.is_numeric_dtype(series):
        text = series.map(str, na_action="ignore").astype(object)
        levels = text.dropna().unique()
        if len(levels) and all(_is_canonical_integer(level) for level in levels):
            return text.map(int, na_action="ignore").astype("Int64")
        return text
    if series.dtype.kind != "f":
        return series
    known = series.dropna().to_numpy(np.float64)
    if np.isinf(known).any():
        raise UserError(f"column {name!r} has infinite values, which are not classes")
    whole = (np.abs(known) < MAX_EXACT).all() and (known % 1 == 0).all()
    return series.astype("Int64") if whole else series


def _is_canonical_integer(text: str) -> bool:
    """Whether text is exactly how an integer is written; 007 is not."""
    digits = text.removeprefix("-")
    return digits.isdecimal() and len(text) <= MAX_DIGITS and str(int(text)) == text


def _check_text(series: pd.Series, name: str) -> None:
    """Refuse text that is probably not a category.

    It is so if it holds numbers with a comma or a sign, mixes numbers and text, or is mostly
    unique.
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(series):
        return
    known = series.dropna()
    levels = pd.Series(known.unique())
    _check_signs(levels, name)
    numeric = pd.to_numeric(known, errors="coerce").notna()
    count = int(numeric.sum())
    several = known[numeric].nunique() >= MIN_MIXED_NUMBERS and count >= 0.1 * len(known)
    if 0 < count < len(known) and (several or 2 * count >= len(known)):
        odd = known[~numeric]
        raise UserError(
            f"column {name!r} mixes numbers and text: {count} of {len(known)} cells are numbers, "
            f"{odd.iloc[0]!r} in row {odd.index[0] + 1} is not; "
            "put it under `missing`, or the column under `categorical`"
        )
    if len(levels) > MAX_TEXT_LEVELS and len(levels) > len(known) / 2:
        raise UserError(
            f"column {name!r} is text with {len(levels)} different values in {len(known)} rows, "
            "an identifier or free text; put it under `drop`, or under `categorical`"
        )


def _check_signs(levels: pd.Series, name: str) -> None:
    """Refuse percentages, amounts of money, and numbers with commas."""
    import pandas as pd

    without_signs = levels.str.replace(SIGNS, "", regex=True).str.strip()
    changed = (without_signs != levels) | levels.str.contains(",", regex=False)
    if not changed.any():
        return
    for replacement in (".", ""):
        text = without_signs.str.replace(",", replacement, regex=False)
        if pd.to_numeric(text, errors="coerce").notna().all():
            raise UserError(
                f"column {name!r} holds numbers such as {levels[changed].iloc[0]!r}; write them "
                "as digits with a decimal point, say `decimal: ','`, or put the column under "
                "`categorical`"
            )
