from __future__ import annotations

from npt.nn.search_space import draw
from npt.nn.settings import NPTSettings

BASE = NPTSettings(width=32)


def test_trials_are_valid_changes_that_differ_and_come_again() -> None:
    trials = [draw(BASE, f"yacht {number}") for number in range(60)]
    assert trials == [draw(BASE, f"yacht {number}") for number in range(60)]
    assert len({repr(changes) for changes in trials}) > 55
    for changes in trials:
        settings = BASE.changed(**changes)
        assert all(getattr(BASE, key) != value for key, value in changes.items())
        assert settings.width * settings.layers <= 2 * BASE.width * BASE.layers
        assert (settings.updates, settings.batch_rows) == (BASE.updates, BASE.batch_rows)
    assert {changes.get("target_mask", 1.0) for changes in trials} == {0.1, 0.15, 0.5, 1.0}
    unmasked = BASE.changed(feature_mask=0.0, tradeoff_start=0.0)
    assert all("feature_mask" not in draw(unmasked, str(number)) for number in range(20))
