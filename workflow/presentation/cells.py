"""Cells of a table: their text, the same for every output format."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import pandas as pd

DASH = "–"
NAN = float("nan")
SMALL = 0.01  # a metric below is shown with three digits
LARGE = 1e9  # a metric above is written in scientific notation
MOST_DECIMALS = 9  # with more, too


@dataclass(frozen=True)
class Cell:
    """One cell as a reader sees it.

    Attributes:
        bold: Whether it stands out.
        italic: Whether it belongs to the bold one. On a page it is shaded.
    """

    text: str
    bold: bool = False
    italic: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether the cell is a dash."""
        return self.text == DASH


MISSING = Cell(DASH)


def text(content: object) -> Cell:
    """A cell of plain text."""
    return Cell(str(content))


def _numeric(value: float, content: str) -> Cell:
    """A number as it is written, or a dash."""
    return MISSING if math.isnan(value) else Cell(content)


def number(value: float, digits: int, *, error: float = NAN, sign: bool = False) -> Cell:
    """A number with its standard error, if it has one."""
    content = formatted(value, digits, sign=sign)
    if not math.isnan(error):
        content = f"{content} ± {formatted(error, digits)}"
    return _numeric(value, content)


def percent(fraction: float, digits: int = 0) -> Cell:
    """A fraction in percent."""
    return _numeric(100 * fraction, f"{formatted(100 * fraction, digits)} %")


def scientific(value: float, digits: int) -> Cell:
    """A number of any size with some significant digits."""
    large = f"{value:.{digits - 1}e}"
    return _numeric(value, f"{value:.{digits}g}" if abs(value) < 1000 else large)


def count(value: float) -> Cell:
    """A whole number with thousands separators."""
    return _numeric(value, f"{value:,.0f}".replace("-", "−"))


def p_value(value: float) -> Cell:
    """A p-value with three decimals, or scientific below a thousandth; zero is a rounded number."""
    small = f"{value:.1e}".replace("-", "−") if value else "< 1e−16"
    return _numeric(value, f"{value:.3f}" if value >= 0.001 else small)


def times(factor: float) -> str:
    """A factor with two significant digits, such as `× 1.4` or `× 28`."""
    return DASH if math.isnan(factor) else f"× {significant(factor)}"


def significant(value: float) -> str:
    """A positive number with two significant digits and without an exponent."""
    if not 0 < value < math.inf:
        return f"{value:g}"
    rounded = float(f"{value:.2g}")
    digits = max(0, 1 - math.floor(math.log10(rounded)))
    return f"{rounded:,.{digits}f}"


def seconds(value: float) -> Cell:
    """Seconds with two significant digits."""
    return _numeric(value, significant(value))


def emphasised(cell: Cell, bold: bool = True, *, italic: bool = False) -> Cell:
    """The cell in bold or in italics, if it has a value."""
    if cell.is_missing:
        return cell
    return replace(cell, bold=bold, italic=italic)


def followed_by(cell: Cell, suffix: str) -> Cell:
    """The cell with more text behind it; a dash stays a dash."""
    return cell if cell.is_missing else replace(cell, text=f"{cell.text}{suffix}")


def formatted(value: float, digits: int, *, sign: bool = False) -> str:
    """A number with a proper minus sign and no negative zero."""
    if math.isnan(value):
        return DASH
    form = ".2e"
    if digits <= MOST_DECIMALS:
        form = f".{digits}f"
        value = round(value, digits) + 0.0
    plus = "+" if sign and value else ""
    return f"{value:{plus}{form}}".replace("-", "−")


def metric_decimals(value: float) -> int:
    """Number of decimals that a metric is shown with: three digits of a small one."""
    if 0 < value < SMALL:
        return 2 - math.floor(math.log10(value))
    if abs(value) > LARGE:
        return MOST_DECIMALS + 1
    return 3 if math.isnan(value) or abs(value) < 10 else 2


def listed(items: Sequence[str]) -> str:
    """Items of a sentence: `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def counted(quantity: int, noun: str) -> str:
    """A number of things, such as `3 folds`."""
    return f"{quantity} {noun}{'' if quantity == 1 else 's'}"


def texts(contents: Iterable[str]) -> list[Cell]:
    """A column of plain text."""
    return list(map(text, contents))


def numbers(values: Iterable[float], digits: int, *, sign: bool = False) -> list[Cell]:
    """A column of numbers."""
    return [number(value, digits, sign=sign) for value in values]


def with_errors(
    frame: pd.DataFrame,
    column: str,
    digits: int | None = None,
    *,
    error: str = "standard_error",
    sign: bool = False,
) -> list[Cell]:
    """A column of means with standard errors; `digits` default to those of a metric.

    Args:
        error: Column of the standard errors.
    """
    cells = []
    pairs = zip(frame[column], frame[error], strict=True)
    for mean, standard_error in pairs:
        places = metric_decimals(mean) if digits is None else digits
        cell = number(mean, places, error=standard_error, sign=sign)
        cells.append(cell)
    return cells


def percents(fractions: Iterable[float], digits: int = 0) -> list[Cell]:
    """A column of fractions in percent."""
    return [percent(fraction, digits) for fraction in fractions]


def columns_of(rows: Sequence[Mapping[str, Cell]]) -> dict[str, list[Cell]]:
    """Columns of rows of cells; a row without a column has a dash."""
    columns = {}
    for title in dict.fromkeys(chain(*rows)):
        columns[title] = [row.get(title, MISSING) for row in rows]
    return columns
