"""Cells of a custom dataset: which are missing, and what those of text are written to be."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from npt.data.frames import MAX_EXACT, FeatureKind
from npt.errors import UserError

MAX_TEXT_LEVELS = 50
MIN_MIXED_NUMBERS = 10
MAX_DIGITS = 15
SIGNS = r"[%$€£¥\s]"
WHOLE = r"[-+]?[0-9]+"
CODE = r"[-+]?0[0-9]+"  # as whole numbers are not written
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
    elif pd.api.types.is_numeric_dtype(series):
        series = series.mask(series.isin(form.missing_numbers))
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
    words = sorted(set(text[is_missing]) - {""})
    rows = np.zeros(len(text) + 1, np.int64)  # the last is that of missing cells, of code -1
    rows[codes[::-1]] = np.arange(len(codes), 0, -1)
    levels = pd.DataFrame(
        {
            "text": text.astype("str"),
            "number": numbers,
            "row": rows[:-1],
            "count": np.bincount(codes[codes >= 0], minlength=len(text)),
        }
    )
    numbers_allowed = kind is not None or form.is_text or bool(is_missing.any())
    values = _values(levels[~is_missing], name, kind, numbers_allowed=numbers_allowed)
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
            return levels["number"]
    if kind != "date" and text.str.lower().isin(BOOLEANS).all():
        booleans = text.str.lower() == "true"
        return booleans.astype(float) if kind == "number" else booleans.astype(object)
    where = f"time: {name!r}" if kind == "date" else f"column {name!r}"
    if kind == "date" or text.str.fullmatch(DATE).all():
        dates = _dates(levels, where)
        if dates is not None:
            return dates
    if kind == "date":
        raise UserError(f"{where} is not a number or a date in every row")
    if kind == "number":
        cell, row = levels[~is_number][["text", "row"]].iloc[0]
        raise UserError(f"{where} is continuous and has {cell!r} in row {row}; {_advice(cell)}")
    classes = _classes(text)
    if classes.cat.categories.dtype.kind != "i":
        _check_text(levels, name)
    return classes


def _classes(text: pd.Series) -> pd.Series:
    """Categories: whole numbers where all are, so that they sort as numbers, or text."""
    if len(text) and text.map(_is_canonical_integer).all():
        return text.astype(np.int64).astype("category")
    return text.astype(object).astype("category")


def _is_canonical_integer(text: str) -> bool:
    """Whether text is exactly how an integer is written; 007 is not."""
    digits = text.removeprefix("-")
    return digits.isdecimal() and len(text) <= MAX_DIGITS and str(int(text)) == text


def _dates(levels: pd.DataFrame, where: str) -> pd.Series | None:
    """Dates that are written in one style; None if some are not.

    Raises:
        UserError: They have more than one reading.
    """
    text = levels["text"]
    if not text.str.fullmatch("[^-].*[0-9].*").all():  # pandas reads "today" as a date
        return None
    dates = _parsed_dates(text, format="ISO8601")
    if dates is None:
        dates = _parsed_dates(text, dayfirst=True)
        month_first = _parsed_dates(text, dayfirst=False)
        if dates is None:
            dates = month_first
        elif month_first is not None and (dates != month_first).any():
            j = int((dates != month_first).to_numpy().argmax())
            raise UserError(
                f"{where}: {text.iloc[j]!r} in row {levels['row'].iloc[j]} is "
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


def _advice(cell: str) -> str:
    """What to do about a cell that is no number."""
    if re.fullmatch(r"[-+]?[0-9.]*,[0-9]+", cell):
        return "is the comma its decimal point? Then say `decimal: ','`"
    if re.search(SIGNS, cell):
        return "write it as digits with a decimal point"
    return "put it under `missing` if it stands for a missing cell"


def _check_text(levels: pd.DataFrame, name: str) -> None:
    """Refuse text that is probably not a category.

    It is so if it holds times of day, or numbers with a comma, a blank or a sign, mixes numbers
    and text, or is mostly unique.
    """
    text = levels["text"]
    if text.str.fullmatch(UNREADABLE).all():
        raise UserError(
            f"column {name!r} holds {text.iloc[0]!r}; write times of day as numbers and dates as "
            "2001-12-31, or put it under `drop` or `categorical`"
        )
    digits = text.str.replace(SIGNS, "", regex=True)
    is_number = levels["number"].notna()
    for point in (".", ""):
        read = pd.to_numeric(digits.str.replace(",", point, regex=False), errors="coerce")
        if not is_number.all() and read.notna().all():
            raise UserError(
                f"column {name!r} holds numbers such as {text[~is_number].iloc[0]!r}; write them "
                "as digits with a decimal point, say `decimal: ','`, or put the column under "
                "`categorical`"
            )
    is_number |= pd.to_numeric(text.astype(object), errors="coerce").notna()  # of a point
    cells = levels["count"].sum()
    numbers = levels["count"][is_number].sum()
    several = is_number.sum() >= MIN_MIXED_NUMBERS and numbers >= 0.1 * cells
    if 0 < numbers < cells and (several or 2 * numbers >= cells):
        cell, row = levels[~is_number][["text", "row"]].iloc[0]
        raise UserError(
            f"column {name!r} mixes numbers and text: {numbers} of {cells} cells are numbers, "
            f"{cell!r} in row {row} is not; "
            "put it under `missing`, or the column under `categorical`"
        )
    if len(levels) > MAX_TEXT_LEVELS and len(levels) > cells / 2:
        raise UserError(
            f"column {name!r} is text with {len(levels)} different values in {cells} rows, "
            "an identifier or free text; put it under `drop`, or under `categorical`"
        )
