"""Figures of lookups and of the intervention (paper Figure 3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from workflow.config.scoring import Scoring
from workflow.report.drawing import EQUAL, NPT_COLOR, panels
from workflow.report.statistics import MODEL, with_columns, without_failures
from workflow.report.titles import dataset_title, method_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAIRS = "looked_up"  # column of targets and predictions, which older rows lack


def intervention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Predictions for up to twenty rows, as the target of their duplicate is set to other values. A
    line along the dotted one is an exact lookup: in the task `add_one`, where a duplicate shows a
    target that is larger by one standard deviation, it is shifted. A flat line does not depend on
    the duplicate.
    """
    firsts = without_failures(study).drop_duplicates(MODEL)
    figure, axes = panels(len(firsts), 10)
    for row, axis in zip(firsts.to_dict("records"), axes, strict=False):
        sweep = json.loads(row["sweep"])
        values = np.array(sweep["values"])
        predictions = np.array(sweep["predicted"])  # (rows, values)
        axis.plot(values, predictions.T, color=NPT_COLOR, alpha=0.5, linewidth=0.8)
        axis.plot(values, values - row["shift"], **EQUAL)
        _label(axis, row, "target of the duplicate, set")
    return figure


def predictions(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Predictions for test rows whose duplicates show the target, against the target; at most 500
    rows of a fold. On the dotted line the target is looked up exactly.
    """
    models = with_columns(without_failures(study), [PAIRS]).dropna(subset=PAIRS)
    firsts = models.drop_duplicates(MODEL)
    figure, axes = panels(len(firsts), 12)
    for row, axis in zip(firsts.to_dict("records"), axes, strict=False):
        pairs = pd.DataFrame(json.loads(row[PAIRS]))
        sns.scatterplot(pairs, x="truth", y="predicted", color=NPT_COLOR, s=6, linewidth=0, ax=axis)
        ends = [pairs["truth"].min(), pairs["truth"].max()]
        axis.plot(ends, ends, **EQUAL)
        _label(axis, row, "target, shown on the duplicate")
    return figure


def _label(axis: Axes, row: dict, target: str) -> None:
    task = str(row["lookup"]).replace("_", " ")
    method = method_title(row["method"], row["variant"])
    axis.set(
        title=f"{dataset_title(row['dataset'])}, {task}\n{method}",
        xlabel=target,
        ylabel="prediction",
    )
