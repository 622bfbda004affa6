from __future__ import annotations

import pytest

from npt.nn import flops
from npt.nn.column_layout import ColumnLayout
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings

VARIANTS = [{}, {"between_datapoints": False}, {"between_attributes": False}]


@pytest.mark.parametrize("changes", VARIANTS)
@pytest.mark.parametrize("layers", [2, 4, 8])
def test_blocks_are_those_of_the_model(layers: int, changes: dict[str, bool]) -> None:
    settings = NPTSettings(width=8, heads=2, layers=layers).changed(**changes)
    model = NPT(ColumnLayout((1, 3), (True, False), 1), settings)
    over_rows = sum(model.over_rows)
    assert flops.blocks(settings) == (over_rows, len(model.blocks) - over_rows)


@pytest.mark.parametrize(
    ("rows", "columns", "changes", "teraflop"),
    [
        (308, 7, {"between_datapoints": False}, 0.0037),
        (2048, 10, {"between_attributes": False}, 0.4349),
    ],
)
def test_ablations_have_half_the_blocks(
    rows: int,
    columns: int,
    changes: dict[str, bool],
    teraflop: float,
) -> None:
    settings = NPTSettings(width=128).changed(**changes)
    assert flops.forward(rows, columns, settings) / 1e12 == pytest.approx(teraflop, abs=5e-5)


def test_rows_that_attend_to_themselves_have_no_pairs() -> None:
    to_all = NPTSettings(width=16, heads=4, between_attributes=False, layers=2)
    to_itself = to_all.changed(attends_to="self")
    for rows in (10, 20):
        pairs = 4 * (rows**2 - rows) * 16 * 3
        assert flops.forward(rows, 3, to_all) - flops.forward(rows, 3, to_itself) == pairs
