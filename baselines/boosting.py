"""What the four boosting libraries share: their grid (paper Tables 18 to 21), and fits whose first rounds are shorter fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baselines.declaration import Grid, Parameters, Size
from npt.table import Task

SOURCES = ("baselines/boosting.py",)
# Parameters under which m rounds are the first m of any longer fit. Others, such as sampling or stopping early, may tie a round
# to their number, and so does CatBoost's learning rate if none is given.
INDEPENDENT_OF_ROUNDS = {
    "learning_rate",
    "max_depth",
    "n_estimators",
    "min_child_samples",
    "min_child_weight",
    "reg_lambda",
}


def paper(task: Task, size: Size) -> Grid:
    """48 configurations for every table."""
    return {
        "learning_rate": [1e-3, 1e-2, 0.1, 0.3],
        "max_depth": [3, 5, 10],
        "n_estimators": [50, 100, 500, 1000],
    }


def quick(task: Task) -> Grid:
    """4 of them."""
    return {"learning_rate": [0.1], "max_depth": [3, 5], "n_estimators": [100, 500]}


def rounds(parameters: Parameters) -> tuple[str, ...]:
    """The number of rounds is shared, where nothing else depends on it."""
    plain = (
        "learning_rate" in parameters
        and "n_estimators" in parameters
        and set(parameters) <= INDEPENDENT_OF_ROUNDS
    )
    return ("n_estimators",) if plain else ()


def longest(configurations: Sequence[Parameters]) -> dict[str, Any]:
    """The configuration with most rounds."""
    return dict(max(configurations, key=lambda one: one.get("n_estimators", 0)))
