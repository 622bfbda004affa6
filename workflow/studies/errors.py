"""Errors as figures show them, and effects: differences of a loss, the same in all studies.

The loss is the logarithm of the RMSE, or the NLL of classes in nats per row. A mean effect over
folds is therefore the logarithm of the geometric mean of RMSE ratios, or a mean difference of NLLs.
Positive is worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from npt.table import Task
from workflow.report.cells import MISSING, Cell, formatted, times

ROUNDING = 1e-5  # effect that single precision may cause


def error_of(scores: Mapping[Any, Any], task: Task, prefix: str = "") -> float:
    """RMSE, or the percentage of wrong classes, of metrics whose names begin with `prefix`."""
    if task == "regression":
        return scores[f"{prefix}rmse"]
    return 100 * (1 - scores[f"{prefix}accuracy"])


def error_label(task: Task) -> str:
    """Label of an axis of errors."""
    return "test RMSE" if task == "regression" else "test errors, %"


def loss_of(scores: Mapping[Any, Any], task: Task, prefix: str = "") -> float:
    """The loss of metrics whose names begin with `prefix`; NaN if they lack it, or for no error."""
    if task != "regression":
        return scores.get(f"{prefix}nll", math.nan)
    rmse = scores.get(f"{prefix}rmse", math.nan)
    return math.log(rmse) if rmse > 0 else math.nan


def losses(rows: pd.DataFrame, prefix: str) -> pd.Series:
    """The loss of each row."""
    columns = rows.columns.intersection(["task", f"{prefix}rmse", f"{prefix}nll"])
    values = [loss_of(row, row["task"], prefix) for row in rows[columns].to_dict("records")]
    return pd.Series(values, rows.index, dtype=float)


def effect(before: pd.Series, after: pd.Series) -> pd.Series:
    """Differences of losses, 0 where rounding may have caused them."""
    difference = after - before
    return difference.mask(difference.abs() <= ROUNDING, 0.0)


def effect_text(value: float, task: Task) -> str:
    """The factor of an RMSE, or a difference of NLLs."""
    if task == "regression":
        return times(float(np.exp(value)))
    return formatted(value, 2, sign=True)


def effect_cell(value: float, task: Task) -> Cell:
    """A mean effect as a cell."""
    if np.isnan(value):
        return MISSING
    return Cell(effect_text(value, task), value)


def effect_interval(low: float, high: float, task: Task) -> Cell:
    """Both ends of an interval of effects."""
    if np.isnan(low):
        return MISSING
    return Cell(f"{effect_text(low, task)} to {effect_text(high, task).removeprefix('× ')}", low)
