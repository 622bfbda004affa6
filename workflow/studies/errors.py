"""The test error as figures and sentences have it: RMSE, or the percentage of wrong classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npt.table import Task


def error_of(scores: Mapping[Any, Any], task: Task, prefix: str = "") -> float:
    """The error among the metrics of a row, whose names begin with `prefix`."""
    if task == "regression":
        return scores[f"{prefix}rmse"]
    return 100 * (1 - scores[f"{prefix}accuracy"])


def error_label(task: Task) -> str:
    """Label of an axis of errors."""
    return "test RMSE" if task == "regression" else "test errors, %"
