"""Errors as figures show them, and effects: differences of a loss, the same in all studies.

The loss is the logarithm of the RMSE, or the NLL of classes in nats per row. A mean effect over
folds is therefore the logarithm of the geometric mean of RMSE ratios, or a mean difference of NLLs.
Positive is worse.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from npt.table import Task
from workflow.report.cells import Cell, counted, formatted, listed, times
from workflow.report.statistics import METHOD
from workflow.report.titles import method_title

ROUNDING = 1e-5  # effect that single precision may cause
REGRESSION, CLASSES = "multiplies the RMSE by", "adds to the NLL, in nats per row,"


def errors(rows: pd.DataFrame, prefix: str = "") -> pd.Series:
    """RMSE, or the percentage of wrong classes, by metrics whose names begin with `prefix`."""
    rmse, accuracy = float_columns(rows, f"{prefix}rmse", f"{prefix}accuracy")
    return rmse.where(rows["task"] == "regression", 100 * (1 - accuracy))


def error_label(task: Task) -> str:
    """Label of an axis of errors."""
    return "test RMSE" if task == "regression" else "test errors, %"


def losses(rows: pd.DataFrame, prefix: str = "") -> pd.Series:
    """The loss of each row; NaN if it lacks the metric, or has no error."""
    rmse, nll = float_columns(rows, f"{prefix}rmse", f"{prefix}nll")
    logarithms = rmse.where(rmse > 0).transform(np.log)
    return logarithms.where(rows["task"] == "regression", nll)


def float_columns(rows: pd.DataFrame, *names: str) -> list[pd.Series]:
    """Some columns; NaN where the rows lack them."""
    known = rows.reindex(columns=list(names)).astype(float)
    return [known[name] for name in names]


def factor_label(task: Task) -> str:
    """What the exponential of an effect is a factor of."""
    return "× RMSE" if task == "regression" else "÷ P(true class)"


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
    """A mean effect as a cell; NaN is a dash."""
    return Cell(effect_text(value, task), value)


def effects_answer(tidy: pd.DataFrame, change: str, effect: str = "effect") -> str:
    """What a change does to each method's error: the means over datasets, the largest first.

    Args:
        tidy: A row per model, with `effect` as of `workflow.studies.errors` and its `folds`.
        change: Subject of the sentence, such as `Shuffling the other rows`.
        effect: Column of the effects.
    """
    known = tidy.dropna(subset=effect)
    sentences = []
    for is_regression, part in known.groupby(known["task"] == "regression", sort=False):
        task = "regression" if is_regression else "binary"
        means = part.groupby(METHOD)[effect].mean().sort_values(ascending=False)
        items = []
        for (method, variant), mean in means.items():  # type: ignore[misc]
            size = effect_text(mean, task).removeprefix("× ").removeprefix("+")
            items.append(f"{size} ({method_title(method, variant)})")
        folds = counted(int(part["folds"].max()), "fold")
        extent = f"{counted(part['dataset'].nunique(), 'dataset')} × {folds}"
        verb = REGRESSION if is_regression else CLASSES
        sentences.append(f"{change} {verb} {listed(items)}; {extent}.")
    return " ".join(sentences)
