"""From X to a table."""

import datetime
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from npt.estimator import NPTRegressor
from npt.estimator.frames import as_table, learn_features, read_frame
from npt.table import Column, Table
from tests.npt.estimator.small import SOLVED, regressor

TARGET = Column("target", "continuous")


def encoded(
    frame: pd.DataFrame, fitted: pd.DataFrame | None = None, categorical: Any = None
) -> Table:
    """A table of a frame, whose features are those of another."""
    features = learn_features(frame if fitted is None else fitted, categorical)
    return as_table(frame, features, np.zeros(len(frame)), TARGET)


def column(values: Any, **options: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": pd.Series(values, **options)})


@pytest.mark.parametrize(
    ("series", "kind"),
    [
        ([1, 2, 3], "continuous"),
        (pd.Series([1, None, 2], dtype="Int64"), "continuous"),
        (pd.Series([1, None, 2.5], dtype=object), "continuous"),
        (pd.Series([None, None, None], dtype=object), "continuous"),
        ([True, False, True], "categorical"),
        (["x", None, "y"], "categorical"),
        (pd.Series([1, 2, 1], dtype="category"), "categorical"),
        (pd.Series([1, "1", 1.0], dtype=object), "categorical"),
        (pd.cut(pd.Series([1.0, 2.0, 3.0]), 2), "categorical"),
        (pd.to_datetime(["2020-01-01", "2021-01-01", None]), "continuous"),
        (pd.Series([datetime.date(2020, 1, 1), None, None], dtype=object), "continuous"),
    ],
)
def test_kind_of_a_column(series: Any, kind: str) -> None:
    assert encoded(column(series)).columns[0].kind == kind


def test_categories_are_compared_by_value() -> None:
    fitted = column([1, 2, 3, 1], dtype="category")
    new = column(["1", 1.0, 2, True, None, 4], dtype=object)
    codes = encoded(new, fitted).numbers(0)
    assert np.array_equal(codes, [np.nan, 0, 1, 0, np.nan, np.nan], equal_nan=True)
    mixed = encoded(column([10, "b", 9, 9.0, "9"], dtype=object))
    assert mixed.columns[0].levels == ("9", "10", "9", "b")
    assert mixed.numbers(0).tolist() == [1, 3, 0, 0, 2]
    with pytest.warns(UserWarning, match="'a'"):
        encoded(column([1, 2]), column(["1", "2"]))
    with warnings.catch_warnings(action="error"):
        encoded(column([None, None], dtype=object), column(["1", "2"]))


def test_columns_of_different_texts_are_warned_of() -> None:
    numbers = [f"{row}.5" for row in range(20)]
    with pytest.warns(UserWarning, match="'a' has 20 different texts in 20 rows"):
        learn_features(column(numbers), None)
    with warnings.catch_warnings(action="error"):
        learn_features(column(numbers), ["a"])
        learn_features(column(numbers, dtype="category"), None)
        learn_features(column(numbers[:10]), None)
        learn_features(column(numbers[:11] * 2), None)


def test_dates_are_seconds() -> None:
    days = ["1970-01-01", "1970-01-02", None]
    expected = [0.0, 86400.0, np.nan]
    for series in (
        pd.Series(pd.to_datetime(days)),
        pd.Series(pd.to_datetime(days)).dt.tz_localize("UTC"),
        pd.Series([datetime.date(1970, 1, 1), datetime.date(1970, 1, 2), None], dtype=object),
    ):
        numbers = encoded(pd.DataFrame({"a": series})).numbers(0)
        assert np.array_equal(numbers, expected, equal_nan=True)


def test_named_columns_are_categories() -> None:
    frame = pd.DataFrame({"a": [1, 2, 1], "b": [3, 4, 3], "c": [5, 6, 5]})
    kinds = [feature.kind for feature in encoded(frame, categorical=["a", "c"]).columns]
    assert kinds == ["categorical", "continuous", "categorical", "continuous"]
    for same in ([0, 2], [True, False, True], {"a", "c"}):
        assert [feature.kind for feature in encoded(frame, categorical=same).columns] == kinds
    with pytest.raises(ValueError, match="categorical"):
        learn_features(frame, ["d"])


@pytest.mark.parametrize(
    ("fitted", "new"),
    [
        ([1.0, 2.0], ["x", "y"]),
        ([1.0, 2.0], pd.to_datetime(["2020", "2021"])),
        (pd.to_datetime(["2020", "2021"]), [1.0, 2.0]),
        ([1.0, 2.0], [np.inf, 0.0]),
        ([1.0, 2.0], [1e200, 0.0]),
    ],
)
def test_error_names_the_column(fitted: Any, new: Any) -> None:
    with pytest.raises(ValueError, match="'a'"):
        encoded(column(new), column(fitted))


@pytest.mark.parametrize(
    "series",
    [
        pd.to_timedelta([1, 2]),
        [1j, 2j],
        [b"x", b"y"],
        pd.period_range("2020", periods=2),
        pd.Series([{"x": 1}, "y"], dtype=object),
    ],
)
def test_other_types_are_refused(series: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="'a'"):
        encoded(column(series))


def test_lists_masks_and_frames_of_other_libraries_are_read() -> None:
    frame = read_frame(regressor(), [[1, "x"], [2, "y"]], reset=True)
    kinds = [feature.kind for feature in encoded(frame).columns]
    assert kinds == ["continuous", "categorical", "continuous"]
    masked = np.ma.masked_less([[1, 2], [3, -4]], 0)
    frame = read_frame(regressor(), masked, reset=True)
    assert np.array_equal(frame, [[1, 2], [3, np.nan]], equal_nan=True)
    frame = read_frame(regressor(), pa.table({"a": [1, 2], "b": ["x", None]}), reset=True)
    assert encoded(frame).columns[1].levels == ("x",)


def test_a_column_that_was_empty_in_fit_is_missing() -> None:
    for later in (["x", "y"], [1.0, 2.0]):
        features = encoded(column(later), column([None, None], dtype=object))
        assert np.isnan(features.numbers(0)).all()


def test_too_extreme_numbers_are_refused() -> None:
    features = np.arange(40.0).reshape(20, 2)
    model = regressor(max_updates=2).fit(features, np.arange(20))
    with pytest.raises(ValueError, match="X"):
        model.predict(np.array([[1e99, 1.0]]))


def test_numbered_columns_in_another_order_are_refused() -> None:
    frame = pd.DataFrame({0: [1.0, 2.0, 3.0], 1: [5.0, 4.0, 6.0]})
    model = NPTRegressor(**SOLVED).fit(frame, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"X: the columns are \['1', '0'\], in another order"):
        model.predict(frame[[1, 0]])
