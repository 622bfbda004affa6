"""Settings that do not fit each other are refused by the name of one of them."""

from __future__ import annotations

from typing import Any

import pytest

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
