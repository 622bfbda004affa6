import math

import pytest

from workflow.presentation import cells
from workflow.presentation.cells import MISSING, Cell, metric_decimals

NAN = math.nan


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (cells.number(0.997, 3, error=0.002), "0.997 ± 0.002"),
        (cells.number(-3.84, 1, error=6.2, sign=True), "−3.8 ± 6.2"),
        (cells.number(1.23, 1, sign=True), "+1.2"),
        (cells.number(-0.01, 1, sign=True), "0.0"),
        (cells.p_value(1.9e-6), "1.9e−06"),
        (cells.p_value(0.0), "< 1e−16"),
        (cells.p_value(0.0261), "0.026"),
        (cells.count(12345.0), "12,345"),
        (cells.percent(1.24), "124 %"),
        (cells.seconds(0.0), "0"),
        (cells.seconds(0.004), "0.0040"),
        (cells.seconds(123.0), "120"),
        (cells.seconds(3660.0), "3,700"),
    ],
)
def test_cell_is_text(cell: Cell, text: str) -> None:
    assert cell.text == text


def test_missing_number_is_a_dash() -> None:
    for kind in (cells.p_value, cells.count, cells.percent, cells.seconds):
        assert kind(NAN) == MISSING
    assert cells.emphasised(cells.number(NAN, 2)) == MISSING


@pytest.mark.parametrize(
    ("value", "digits"), [(10.0, 2), (9.9, 3), (0.05, 3), (0.00105, 5), (0.0, 3), (1e-20, 22)]
)
def test_small_metrics_can_be_told_apart(value: float, digits: int) -> None:
    assert metric_decimals(value) == digits


@pytest.mark.parametrize(
    ("value", "text"), [(1.25e-12, "1.25e−12"), (2e60, "2.00e+60"), (3e-5, "0.0000300")]
)
def test_metrics_of_any_scale_are_short(value: float, text: str) -> None:
    assert cells.formatted(value, metric_decimals(value)) == text
