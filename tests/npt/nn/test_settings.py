"""Settings that do not fit each other are refused by the name of one of them; random ones do."""

from __future__ import annotations

from typing import Any

import pytest

from npt.nn.search_space import draw
from npt.nn.settings import NPTSettings

ENCODED = {
    "encoder": "resnet18",
    "between_attributes": False,
    "feature_mask": 0,
    "tradeoff_start": 0,
}
LOOKUP = {"lookup": "original", "feature_mask": 0, "tradeoff_start": 0}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"width": 10, "heads": 4}, "width"),
        ({"layers": 3}, "layers"),
        ({"between_attributes": False, "between_datapoints": False}, "between_datapoints"),
        ({"feature_mask": 0}, "tradeoff_start"),
        ({"tradeoff": "constant"}, "tradeoff_start"),
        ({"own_rows": True}, "transductive"),
        ({**LOOKUP, "target_mask": 0.5}, "target_mask"),
        ({"lookup": "duplicate"}, "lookup"),
        ({"patch_shape": "round"}, "patch_shape"),
        ({"span_threshold": 0.1}, "span_threshold"),
        ({"span_form": "multiplied", "kernel": "l2"}, "span_form"),
        ({"kernel": "span", "between_datapoints": False}, "kernel"),
        ({"kernel": "span", "attends_to": "self"}, "kernel"),
        ({"attends_to": "self", "between_datapoints": False}, "attends_to"),
        ({"kernel": "span", "span_threshold": 1.0}, "span_threshold"),
        ({"kernel": "span", "span": 0}, "span"),
        ({**ENCODED, "between_attributes": True}, "between_attributes"),
        ({**ENCODED, "feature_mask": 0.1}, "feature_mask"),
        ({**ENCODED, "target_mask": 0.5}, "target_mask"),
        ({"pooling": 2}, "pooling"),
        ({"pixels": {"threshold": 0.1}}, "threshold"),
        ({"pixels": {"positions": "sinusoids"}}, "positions"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(ValueError, match=rf"\b{key}\b"):
        NPTSettings(**changes)


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
