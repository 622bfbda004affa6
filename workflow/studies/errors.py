"""Errors as figures show them, and effects: differences of a loss, the same in all studies.

The loss is the logarithm of the RMSE, or the NLL of classes in nats per row. A mean effect over
folds is therefore the logarithm of the geometric mean of RMSE ratios, or a mean difference of NLLs.
Positive is worse.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from npt.table import Task
from workflow.report.cells import MISSING, Cell, formatted, times
from workflow.report.statistics import with_columns

ROUNDING = 1e-5  # effect that single precision may cause


def errors(rows: pd.DataFrame, prefix: str = "") -> pd.Series:
    """RMSE, or the percentage of wrong classes, by metrics whose names begin with `prefix`."""
    known = with_columns(rows, [f"{prefix}rmse", f"{prefix}accuracy"])
    wrong = 100 * (1 - known[f"{prefix}accuracy"].astype(float))
    return known[f"{prefix}rmse"].astype(float).where(rows["task"] == "regression", wrong)


def error_label(task: Task) -> str:
    """Label of an axis of errors."""
    return "test RMSE" if task == "regression" else "test errors, %"


def losses(rows: pd.DataFrame, prefix: str = "") -> pd.Series:
    """The loss of each row; NaN if it lacks the metric, or has no error."""
    known = with_columns(rows, [f"{prefix}rmse", f"{prefix}nll"]).astype(
        {f"{prefix}rmse": float, f"{prefix}nll": float}
    )
    rmse = known[f"{prefix}rmse"]
    logarithms = rmse.where(rmse > 0).transform(np.log)
    return logarithms.where(rows["task"] == "regression", known[f"{prefix}nll"])


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
