"""Hyper-parameters: bad values, values that follow from others, and the search space."""

from __future__ import annotations

from typing import Any

import pytest

from npt.compact.search_space import draw
from npt.compact.settings import CompactSettings
from npt.errors import UserError
from npt.validation import validated

BASE = CompactSettings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("width", 0),
        ("width", 97),
        ("width", "96"),
        ("token_width", 30),
        ("heads", 2.5),
        ("members", 65),
        ("similarity", "cosine"),
        ("bin_scale", []),
        ("bin_scale", [0.1, 0.0]),
        ("dropout", [0.1] * 9),
        ("dropout", [1.0]),
        ("feature_mask", [float("nan")]),
        ("context_dropout", 1.0),
        ("patience", 0),
        ("transductive", "yes"),
        ("dropuot", [0.1]),
    ],
)
def test_bad_values_are_one_line_that_names_the_key(name: str, value: Any) -> None:
    with pytest.raises(UserError) as refused:
        validated(CompactSettings, {name: value}, "npt_compact")
    message = str(refused.value)
    assert message.startswith("npt_compact")
    assert name in message
    assert "\n" not in message


def test_batches_are_bounded_shares_of_the_train_rows() -> None:
    sizes = {rows: BASE.batch_size(rows) for rows in (2, 31, 32, 1000, 1024, 3200, 8192, 10**6)}
    assert sizes == {2: 2, 31: 31, 32: 32, 1000: 32, 1024: 32, 3200: 100, 8192: 256, 10**6: 256}
    given = BASE.changed(batch_rows=50)
    assert [given.batch_size(rows) for rows in (20, 50, 10**6)] == [20, 50, 50]


def test_draws_are_valid_differ_and_come_again() -> None:
    changes = [draw(BASE, f"yacht {number}") for number in range(60)]
    assert changes == [draw(BASE, f"yacht {number}") for number in range(60)]
    assert len(set(map(repr, changes))) > 30
    for settings in (BASE.changed(**change) for change in changes):
        assert (settings.members, settings.batch_rows) == (BASE.members, BASE.batch_rows)
        assert settings.updates <= 2 * BASE.updates
        for name in ("width", "bins", "layers"):
            assert getattr(settings, name) <= getattr(BASE, name)


@pytest.mark.parametrize("changes", [{"width": 8192}, {"learning_rate": 10.0}])
def test_draws_around_extreme_settings_are_valid(changes: dict[str, Any]) -> None:
    base = BASE.changed(**changes)
    for number in range(30):
        base.changed(**draw(base, str(number)))
