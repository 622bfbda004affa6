"""Figures of lookups and of the intervention (paper Figure 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from workflow.config.scoring import Scoring
from workflow.report.drawing import EQUAL, NPT_COLOR, panels
from workflow.report.titles import model_title
from workflow.studies.facts import first_facts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def intervention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Predictions for up to twenty rows, as the target of their duplicate is set to other values. A
    line along the dotted one is an exact lookup: in the task `add_one`, where a duplicate shows a
    target that is larger by one standard deviation, it is shifted. A flat line does not depend on
    the duplicate.
    """
    models = list(first_facts(study, "sweep"))
    figure, axes = panels(len(models), 10)
    for (row, sweep), axis in zip(models, axes, strict=False):
        values = np.array(sweep["values"])
        predictions = np.array(sweep["predicted"])  # (rows, values)
        axis.plot(values, predictions.T, color=NPT_COLOR, alpha=0.5, linewidth=0.8)
        axis.plot(values, values - row["shift"], **EQUAL)
        axis.set(xlabel="target of the duplicate, set", ylabel="prediction", title=_title(row))
    return figure


def predictions(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Predictions for test rows whose duplicates show the target, against the target; at most 500
    rows of a fold. On the dotted line the target is looked up exactly.
    """
    models = list(first_facts(study, "looked_up"))
    figure, axes = panels(len(models), 12)
    for (row, facts), axis in zip(models, axes, strict=False):
        pairs = pd.DataFrame(facts)
        sns.scatterplot(pairs, x="truth", y="predicted", color=NPT_COLOR, s=6, linewidth=0, ax=axis)
        ends = [pairs["truth"].min(), pairs["truth"].max()]
        axis.plot(ends, ends, **EQUAL)
        axis.set(xlabel="target, shown on the duplicate", ylabel="prediction", title=_title(row))
    return figure


def _title(row: dict) -> str:
    task = row["lookup"].replace("_", " ")
    return model_title(row).replace("\n", f", {task}\n")
