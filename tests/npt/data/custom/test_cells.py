"""Cells: missing words, numbers, dates, categories, and columns that would be misread."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.data.custom.cells import Form, typed
from npt.data.frames import Feature, FeatureKind
from npt.errors import UserError

ROWS = 60
TEXT = Form(("", "NA", "?", "-999"), is_text=True)
TYPED = Form(("?", "-999"))


def feature(cells: Any, kind: FeatureKind | None = None, form: Form = TEXT) -> Feature:
    series, _ = typed(pd.Series(cells), "x", kind, form)
    return Feature.from_series(series, "x")


def written(cell: Callable[[int], str]) -> list[str]:
    return list(map(cell, range(ROWS)))


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        (str, "number"),
        (lambda i: f" +{i}.5 ", "number"),
        (lambda i: "-999.0" if i == 3 else f"{i}e2", "number"),
        (lambda i: f"0{i % 3}.05", "number"),
        (lambda i: f"{i + 1}.{i:03}", "number"),
        (lambda i: f"{i + 1}.{i:03}" if i % 4 else f"{i}.5", "number"),
        (lambda i: f"{i % 7:05}", "category"),
        (lambda i: ("true", "False")[i % 2], "category"),
        (lambda i: f"2001-02-{i % 28 + 1:02}", "date"),
        (lambda i: f"2001-02-{i % 28 + 1:02} 10:30:00+02:00", "date"),
        (lambda i: f"{i % 28 + 1}/2/2001 10:30", "date"),
        (lambda i: f"{i % 28 + 1} March 2021", "date"),
    ],
)
def test_kind_of_text(cell: Callable[[int], str], kind: str) -> None:
    assert feature(written(cell)).kind == kind


@pytest.mark.parametrize(
    ("cell", "key"),
    [
        (lambda i: "x" if i == 1 else str(i), "mixes numbers and text"),
        (lambda i: "unknown" if i % 2 else str(i), "mixes numbers and text"),
        (lambda i: f"{2**60 + i}", r"2\^53"),
        (lambda i: ("1,5", "2,25")[i % 2], "decimal sign of `decimal`"),
        (lambda i: ("-$5", "$1,000.5")[i % 2], "decimal"),
        (lambda i: f"1\u202f{100 + i % 9}", "digits"),
        (lambda i: f"{i % 24:02}:30:00", "times of day"),
        (lambda i: f"{i % 20 + 10}.12.99", "2001-12-31"),
        (lambda i: f"{i % 12 + 1}/{i % 11 + 1}/2001", "is 2001-"),
        (lambda i: f"h{i}", "identifier"),
        (lambda i: f"{900 + 20 * i:,}".replace(",", "."), "separators of thousands"),
    ],
)
def test_text_that_would_be_misread(cell: Callable[[int], str], key: str) -> None:
    with pytest.raises(UserError, match=key):
        feature(written(cell))


def test_inexact_numbers_are_refused() -> None:
    for cells in (
        pd.Series([1, 2**60, None], dtype="Int64"),
        pd.Series(["?", str(2**60), "4"], dtype="str"),
    ):
        with pytest.raises(UserError, match=r"2\^53"):
            typed(cells, "x", None, TYPED)


def test_missing_words_in_every_type() -> None:
    series, words = typed(pd.Series(["1.5", " ?", "-999", "2", ""]), "x", None, TEXT)
    assert np.array_equal(series, [1.5, np.nan, np.nan, 2, np.nan], equal_nan=True)
    assert words == ["-999", "?"]
    series, words = typed(pd.Series(["NA", "b ", "?"]), "x", None, TYPED)
    assert series.isna().tolist() == [False, False, True]
    series, _ = typed(pd.Series([3, -999]), "x", None, TYPED)
    assert series.isna().tolist() == [False, True]


def test_levels_are_whole_numbers_where_all_are() -> None:
    assert feature(written(lambda i: str(i % 12)), "category").levels == tuple(range(12))
    assert feature(["007", "7", "1"], "category").levels == ("007", "1", "7")
    assert feature(["1", "b", "NA"], "category").levels == ("1", "b")


@pytest.mark.parametrize("cell", ["0,1257", "0.1%", "x"])
def test_a_target_that_is_no_number_is_named(cell: str) -> None:
    with pytest.raises(UserError, match=f"'x' is continuous and has '{cell}' in row 2"):
        feature(["1.5", cell], "number")
    assert feature(["1,5", "NA"], "number", Form(("NA",), ",", is_text=True)).kind == "number"


@pytest.mark.parametrize("month", ["1960-12", "9999-12"])
def test_dates_are_seconds(month: str) -> None:
    days = [f"{month}-{day:02}" for day in range(1, 31)]
    turned = pd.Series([f"{day[8:]}/12/{day[:4]}" for day in days])
    series, _ = typed(turned, "x", None, TEXT)
    seconds = Feature.from_series(series, "x").cells(series)
    epoch = np.datetime64("1970-01-01", "s")
    assert seconds.tolist() == (np.array(days, "datetime64[s]") - epoch).astype(int).tolist()
