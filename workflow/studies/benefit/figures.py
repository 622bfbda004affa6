"""Figure of dependence alongside benefit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import (
    NPT_COLOR,
    OTHER_COLOR,
    fit_lines,
    heights,
    legend_below,
    logarithmic,
    panels,
    zero_line,
)
from workflow.report.titles import dataset_title, method_title
from workflow.studies.benefit.tables import effects

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Name, label, color, marker and offset of what is drawn in a line.
DEPENDS = ("depends", "depends: permuted", OTHER_COLOR, "o", 0.13)
BENEFITS = ("benefits", "benefits: trained without", NPT_COLOR, "D", -0.13)


def benefit(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Effects as factors, a panel for each method with twins."""
    tidy = effects(study, scoring)
    tidy = tidy[tidy["twin"] != ""]
    names = list(dict.fromkeys(tidy["method"]))
    sizes = tidy.groupby("method").size()
    most = max(sizes, default=0)
    figure, axes = panels(max(1, len(names)), 4 + most)
    for name, axis in zip(names, axes, strict=False):
        part = tidy[tidy["method"] == name]
        _panel(axis, part)
        variant = part["variant"].iloc[0]
        axis.set_title(method_title(name, variant))
    if names:
        legend_below(figure, axes[0], columns=2)
    return figure


def _panel(axis: Axes, part: pd.DataFrame) -> None:
    labels = _labels(part)
    for name, label, color, marker, offset in (DEPENDS, BENEFITS):
        errors = part[f"{name}_error"].fillna(0)
        factors = np.exp(part[name])
        axis.errorbar(
            factors,
            [height + offset for height in heights(labels)],
            xerr=[factors * (1 - np.exp(-errors)), factors * (np.exp(errors) - 1)],
            fmt=marker,
            color=color,
            markersize=4,
            capsize=2,
            label=label,
        )
    zero_line(axis, at=1)
    logarithmic(axis.xaxis)
    axis.margins(x=0.15)
    axis.set_yticks(list(heights(labels)), labels)
    fit_lines(axis, labels)
    axis.grid(axis="y", visible=False)
    metrics = []
    for task in dict.fromkeys(part["task"]):
        metrics.append("× RMSE" if task == "regression" else "÷ probability of the true class")
    axis.set_xlabel(f"{' or '.join(dict.fromkeys(metrics))}\n(right is worse without)")


def _labels(part: pd.DataFrame) -> list[str]:
    labels = []
    for dataset, source in zip(part["dataset"], part["source"], strict=True):
        title = dataset_title(dataset)
        labels.append(f"{title}: {source}")
    return labels
