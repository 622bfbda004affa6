"""Cells of a custom dataset: which are missing, and what those of text are written to be."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from npt.data.frames import MAX_EXACT, NUMBERS, FeatureKind
from npt.errors import UserError

MAX_TEXT_LEVELS = 50
MIN_MIXED_NUMBERS = 10
SIGNS = r"[%$€£¥,\s]"
WHOLE = r"[-+]?[0-9]+"
SHORT = r"[-+]?[0-9]{1,3}"
GROUPED = r"[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}"  # 1.234 may be 1234
CODE = r"[-+]?0[0-9]+"  # as whole numbers are not written
CANONICAL = r"0|-?[1-9][0-9]{0,14}"  # as integers are written
DATE = (
    r"[0-9]{1,4}(?:[-/.][0-9]{1,2}[-/.]|[-/. ][A-Za-z]{3,9}[-/. ])[0-9]{1,4}"
    r"(?:[T ][0-9:.]+(?:Z| ?[-+][0-9:]+)?)?"
)
UNREADABLE = r"[0-9]{1,2}:[0-9]{2}(?::[0-9.]+)?|[0-9]{2}[-/.][0-9]{2}[-/.][0-9]{2,4}"
BOOLEANS = ("true", "false")
COMMA_AND_POINT = str.maketrans(",.", ".,")


@dataclass(frozen=True)
class Form:
    """How cells are written.

    Attributes:
        missing: Words that are missing cells, and numbers.
        decimal: Decimal point of numbers in text.
        is_text: Whether all cells are text, so that text may be numbers.
    """

    missing: tuple[str, ...] = ()
    decimal: str = "."
    is_text: bool = False

    @property
    def missing_numbers(self) -> list[float]:
        """Numbers that are missing cells."""
        numbers = pd.to_numeric(pd.Series(self.missing, dtype=object), errors="coerce")
        return numbers[np.isfinite(numbers.astype(np.float64))].tolist()


def typed(
    series: pd.Series, name: str, kind: FeatureKind | None, form: Form
) -> tuple[pd.Series, list[str]]:
    """A column whose type is that of its cells, and the words in it that are missing cells.

    Args:
        series: Cells, from row 0.
        kind: What the cells must be; None infers it.

    Raises:
        UserError: The column, if it is not of the kind, or would probably be misread.
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        kind = kind or "category"
        series = series.astype(object)
    words: list[str] = []
    inferred = pd.api.types.infer_dtype(series, skipna=True)
    if inferred == "string":
        series, words = _typed_text(series, name, kind, form)
    elif inferred == "boolean":
        series = series.astype("boolean").astype("Float64") if kind == "number" else series
    elif inferred in NUMBERS:
        numbers = series.astype(np.float64) if inferred == "decimal" else series
        series = series.mask(numbers.isin(form.missing_numbers))
        if kind not in ("category", "date") and pd.api.types.is_integer_dtype(series):
            inexact = (series.abs() >= MAX_EXACT).to_numpy(bool, na_value=False)
            _require_exact(name, np.flatnonzero(inexact) + 1)
    return (series.astype("category") if kind == "category" else series), words


def _require_exact(name: str, inexact_rows: np.ndarray) -> None:
    if len(inexact_rows):
        raise UserError(
            f"column {name!r} has whole numbers beyond 2^53, which are not exact, first in row "
            f"{inexact_rows[0]}; put an identifier under `drop`, a class under `categorical`"
        )


def _typed_text(
    series: pd.Series, name: str, kind: FeatureKind | None, form: Form
) -> tuple[pd.Series, list[str]]:
    """The same for text; each different cell is read once."""
    codes, texts = pd.factorize(series)
    text = pd.Series(texts, dtype=object).map(str.strip)
    written = text.str.translate(COMMA_AND_POINT) if form.decimal == "," else text
    numbers = pd.to_numeric(written, errors="coerce").astype(np.float64)
    is_missing = text.isin(form.missing) | numbers.isin(form.missing_numbers)
    known = np.flatnonzero(codes >= 0)
    _, first, counts = np.unique(codes[known], return_index=True, return_counts=True)
    levels = pd.DataFrame(
        {"text": text.astype("str"), "number": numbers, "row": known[first] + 1, "count": counts}
    )
    numbers_allowed = kind is not None or form.is_text or bool(is_missing.any())
    values = _values(levels[~is_missing], name, kind, numbers_allowed=numbers_allowed)
    words = sorted(set(text[is_missing]) - {""})
    return values.reindex(codes).set_axis(series.index), words


def _values(
    levels: pd.DataFrame, name: str, kind: FeatureKind | None, *, numbers_allowed: bool
) -> pd.Series:
    """Values of the different cells of a column: numbers, dates or categories.

    Args:
        levels: Of each its text, its number, its first row and the number of its rows.
    """
    text = levels["text"]
    if kind == "category":
        return _classes(text)
    is_number = levels["number"].notna()
    if is_number.all() and numbers_allowed:
        is_whole = text.str.fullmatch(WHOLE)
        has_codes = kind is None and is_whole.all() and text.str.fullmatch(CODE).any()
        if not has_codes:
            if kind != "date":
                is_inexact = is_whole & (levels["number"].abs() >= MAX_EXACT)
                _require_exact(name, levels["row"][is_inexact].to_numpy())
                _require_ungrouped(levels, name)
            return levels["number"]
    if kind != "date" and text.str.lower().isin(BOOLEANS).all():
        booleans = text.str.lower() == "true"
        return booleans.astype(float) if kind == "number" else booleans.astype(object)
    if kind == "date" or text.str.fullmatch(DATE).all():
        dates = _dates(levels, name)
        if dates is not None:
            return dates
    if kind == "number":
        cell, row = levels[~is_number][["text", "row"]].iloc[0]
        raise UserError(
            f"column {name!r} is continuous and has {cell!r} in row {row}; write numbers as digits "
            "with the decimal sign of `decimal`, '.' or ',', or put missing cells under `missing`"
        )
    classes = _classes(text)
    if kind is None and classes.cat.categories.dtype.kind != "i":
        _check_text(levels, name)
    return classes


def _require_ungrouped(levels: pd.DataFrame, name: str) -> None:
    """Refuse numbers of which all are below 1000 and whole, or have exactly three decimals."""
    is_short = levels["text"].str.fullmatch(SHORT)
    is_grouped = levels["text"].str.fullmatch(GROUPED)
    several = is_grouped.sum() >= MIN_MIXED_NUMBERS
    if several and is_short.any() and (is_short | is_grouped).all():
        cells = [levels["text"][mask].iloc[0] for mask in (is_grouped, is_short)]
        raise UserError(
            f"column {name!r} has {cells[0]!r} and {cells[1]!r}, probably with separators of "
            f"thousands; write {re.sub('[.,]', '', cells[0])}, or all numbers with three decimals"
        )


def _classes(text: pd.Series) -> pd.Series:
    """Categories: whole numbers where all are, so that they sort as numbers, or text."""
    if len(text) and text.str.fullmatch(CANONICAL).all():
        return text.astype(np.int64).astype("category")
    return text.astype(object).astype("category")


def _dates(levels: pd.DataFrame, name: str) -> pd.Series | None:
    """Dates that are written in one style; None if some are not.

    Raises:
        UserError: They have more than one reading.
    """
    text = levels["text"]
    if not text.str.fullmatch("[^-].*[0-9].*").all():  # pandas reads "today" as a date
        return None
    dates = _parsed_dates(text, format="ISO8601")
    if dates is not None:
        return dates
    dates = _parsed_dates(text, dayfirst=True)
    month_first = _parsed_dates(text, dayfirst=False)
    if dates is None or month_first is None:
        return month_first if dates is None else dates
    differs = (dates != month_first).to_numpy()
    if differs.any():
        j = differs.argmax()
        raise UserError(
            f"column {name!r} has {text.iloc[j]!r} in row {levels['row'].iloc[j]}, which is "
            f"{month_first.iloc[j]:%Y-%m-%d} or {dates.iloc[j]:%Y-%m-%d}; write dates as "
            "2001-12-31, or put the column under `drop` or `categorical`"
        )
    return dates


def _parsed_dates(text: pd.Series, **style: Any) -> pd.Series | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # pandas warns where it guesses cell by cell
            warnings.filterwarnings("ignore", message="Parsing dates in")
            return pd.to_datetime(text, utc=True, **style)
    except (ValueError, UserWarning):
        return None


def _check_text(levels: pd.DataFrame, name: str) -> None:
    """Refuse text that is probably not a category.

    It is so if it holds times of day, or numbers with a comma, a blank or a sign, mixes numbers
    and text, or is mostly unique.
    """
    text = levels["text"]
    is_number = levels["number"].notna()
    digits = pd.to_numeric(text.str.replace(SIGNS, "", regex=True), errors="coerce")
    cells = levels["count"].sum()
    numbers = levels["count"][is_number].sum()
    several = is_number.sum() >= MIN_MIXED_NUMBERS and numbers >= 0.1 * cells
    if text.str.fullmatch(UNREADABLE).all():
        reason = (
            f"holds {text.iloc[0]!r}; write times of day as numbers and dates as 2001-12-31, or "
            "put it under `drop` or `categorical`"
        )
    elif digits.notna().all() and not is_number.all():
        reason = (
            f"holds numbers such as {text[~is_number].iloc[0]!r}; write them as digits with the "
            "decimal sign of `decimal`, '.' or ',', or put the column under `categorical`"
        )
    elif 0 < numbers < cells and (several or 2 * numbers >= cells):
        cell, row = levels[~is_number][["text", "row"]].iloc[0]
        reason = (
            f"mixes numbers and text: {numbers} of {cells} cells are numbers, {cell!r} in row "
            f"{row} is not; put it under `missing`, or the column under `categorical`"
        )
    elif len(levels) > MAX_TEXT_LEVELS and len(levels) > cells / 2:
        reason = (
            f"is text with {len(levels)} different values in {cells} rows, an identifier or free "
            "text; put it under `drop`, or under `categorical`"
        )
    else:
        return
    raise UserError(f"column {name!r} {reason}")
