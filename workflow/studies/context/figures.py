"""Figure of the test error by the share of train rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.drawing import (
    legend_below,
    logarithmic,
    method_styles,
    panels,
)
from workflow.report.titles import dataset_title, method_title
from workflow.studies.context.tables import AT_PREDICTION, IN_TRAINING, errors
from workflow.studies.errors import error_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = {AT_PREDICTION: "-", IN_TRAINING: ":"}


def context(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """A panel for each dataset: solid at prediction, dotted in training, by the rows of either."""
    means = errors(study)
    means["title"] = [method_title(name, BASE) for name in means["method"]]
    styles = method_styles(list(means["title"]))
    datasets = list(dict.fromkeys(means["dataset"]))
    figure, axes = panels(max(1, len(datasets)), 10)
    for axis, dataset in zip(axes, datasets, strict=False):
        _panel(axis, means[means["dataset"] == dataset], styles)
        axis.set_title(dataset_title(dataset))
    if datasets:
        legend_below(figure, axes[0], columns=3)
    return figure


def _panel(axis: Axes, part: pd.DataFrame, styles: dict[str, tuple[str, str]]) -> None:
    for title, (color, marker) in styles.items():
        of_method = part[part["title"] == title]
        label = title
        for where, line_style in LINES.items():
            line = of_method[of_method["where"] == where]
            if line.empty:
                continue
            axis.plot(
                line["rows"],
                line["error"],
                color=color,
                marker=marker,
                markersize=4,
                linestyle=line_style,
                label=label,
            )
            label = ""
    axis.axhline(
        part["constant"].mean(),
        color="0.3",
        linestyle="--",
        linewidth=1.0,
        label="a constant",
    )
    axis.set_ylabel(error_label(part["task"].iloc[0]))
    if part["error"].min() > 0:
        logarithmic(axis.yaxis)
    axis.set_xscale("log")
    axis.set_xlabel("train rows")
