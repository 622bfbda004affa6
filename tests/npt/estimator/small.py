"""Estimators that are fitted within a second, and tables for them."""

from typing import Any

import pandas as pd

from npt.data.datasets import synthetic
from npt.estimator import NPTClassifier, NPTRegressor
from npt.table import Task

TINY: dict[str, Any] = {
    "token_width": 8,
    "heads": 2,
    "bins": 8,
    "dropout": [0.0],
    "feature_mask": [0.0],
    "weight_average": 0.8,
    "evaluate_every": 15,
}
COMPACT: dict[str, Any] = {
    "architecture": "compact",
    "width": 32,
    "layers": 1,
    "members": 1,
    "max_updates": 30,
    "batch_size": 64,
    "learning_rate": 0.02,
    "settings": TINY,
}
PAPER: dict[str, Any] = {
    "architecture": "paper",
    "width": 8,
    "layers": 2,
    "max_updates": 60,
    "learning_rate": 0.02,
    "settings": {"heads": 2},
}


SOLVED: dict[str, Any] = {"architecture": "solved", "max_updates": 3}


def classifier(**changes: Any) -> NPTClassifier:
    """A small compact classifier."""
    return NPTClassifier(**{**COMPACT, **changes})


def regressor(**changes: Any) -> NPTRegressor:
    """A small compact regressor."""
    return NPTRegressor(**{**COMPACT, **changes})


def paper_classifier(**changes: Any) -> NPTClassifier:
    """A small exact NPT."""
    return NPTClassifier(**{**PAPER, **changes})


def table(task: Task, rows: int = 80) -> tuple[pd.DataFrame, pd.Series]:
    """Numbers with missing cells and a category, and a target."""
    frame = synthetic.frame(task, rows)
    target = frame.pop("y")
    return frame, target
