"""The grid that the four boosting libraries share (paper Tables 18 to 21)."""

from __future__ import annotations

from baselines.search import Grid, Size
from npt.interface import Task


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
