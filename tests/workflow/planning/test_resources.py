"""Which trainings may share a GPU."""

from __future__ import annotations

from typing import Any

import pytest

from workflow.config.reading import read
from workflow.planning.plan import Plan
from workflow.planning.resources import shares_gpu

CONFIG = {"folds": 0, "studies": {"main": {}}}


@pytest.mark.parametrize(
    ("dataset", "method", "settings", "shares"),
    [
        ("yacht", "npt", {"width": 16, "layers": 4}, True),
        ("yacht", "npt", {}, True),
        ("breast_cancer", "npt", {}, False),
        ("protein", "npt", {"width": 16, "layers": 4}, False),
        ("yacht", "knn", {}, False),  # it has no forecast
    ],
)
def test_trainings_of_short_updates_share_a_gpu(
    dataset: str,
    method: str,
    settings: dict[str, Any],
    shares: bool,
) -> None:
    config = {**CONFIG, "datasets": [dataset], "methods": [method], "settings": {method: settings}}
    plan = Plan.of(read(config))
    (run,) = plan.runs.values()
    assert shares_gpu(plan.dataset(dataset), run) == shares
