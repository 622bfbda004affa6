"""Figures of lookups and of the intervention (paper Figure 3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import NPT_COLOR, panels
from workflow.report.statistics import MODEL, with_columns, without_failures
from workflow.report.titles import dataset_title, method_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAIRS = "looked_up"  # column of targets and predictions, which older rows lack


def intervention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Prediction for a row against the target of its duplicate, with a line for each row.

    A panel shows the first fold of a model. In the task `add_one` a duplicate shows a target that
    is larger by one standard deviation, so that the dotted line of exact lookup is shifted.
    """
    models = [rows.iloc[0] for _, rows in without_failures(study).groupby(MODEL, sort=False)]
    figure, axes = panels(max(1, len(models)), 10)
    for axis, row in zip(axes, models, strict=False):
        _panel(axis, row)
    return figure


def predictions(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Prediction against target of probed rows, a panel for the first fold of each model."""
    models = with_columns(without_failures(study), [PAIRS]).dropna(subset=PAIRS)
    firsts = [rows.iloc[0] for _, rows in models.groupby(MODEL, sort=False)]
    figure, axes = panels(max(1, len(firsts)), 12)
    for axis, row in zip(axes, firsts, strict=False):
        pairs = json.loads(row[PAIRS])
        truth = np.array(pairs["truth"])
        axis.plot(truth, pairs["predicted"], ".", color=NPT_COLOR, markersize=2.5)
        ends = [truth.min(), truth.max()]
        axis.plot(ends, ends, color="0.3", linestyle=":", linewidth=1.2)
        axis.set_title(_title(row))
        axis.set(xlabel="target, shown on the duplicate", ylabel="prediction")
    return figure


def _title(row: pd.Series) -> str:
    task = str(row["lookup"]).replace("_", " ")
    method = method_title(row["method"], row["variant"])
    return f"{dataset_title(row['dataset'])}, {task}\n{method}"


def _panel(axis: Axes, row: pd.Series) -> None:
    sweep = json.loads(row["sweep"])
    values = np.array(sweep["values"])
    predictions = np.array(sweep["predicted"])  # (rows, values)
    axis.plot(
        values,
        predictions.T,
        color=NPT_COLOR,
        alpha=0.5,
        linewidth=0.8,
    )
    axis.plot(
        values,
        values - row["shift"],
        color="0.3",
        linestyle=":",
        linewidth=1.2,
    )
    axis.set_title(_title(row))
    axis.set(xlabel="target of the duplicate, set", ylabel="prediction")
