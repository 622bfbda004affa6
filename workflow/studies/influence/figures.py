"""Figure of the certified bound and the largest influence that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.drawing import legend_below, logarithmic, panels
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.errors import error_label
from workflow.studies.influence.tables import influences

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = {
    "bound": ("v", "certified"),
    "largest_influence": ("o", "largest found"),
    "corruption": ("_", "mean, all other rows permuted"),
}


def influence(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """A panel for each dataset, a column of marks for each model."""
    means = influences(study)
    datasets = list(dict.fromkeys(means["dataset"]))
    figure, axes = panels(max(1, len(datasets)), 10)
    for axis, dataset in zip(axes, datasets, strict=False):
        _panel(axis, means[means["dataset"] == dataset])
        axis.set_title(dataset_title(dataset))
    if datasets:
        legend_below(figure, axes[0], columns=3)
    return figure


def _panel(axis: Axes, part: pd.DataFrame) -> None:
    positions = range(len(part))
    for number, (name, (marker, label)) in enumerate(MARKERS.items()):
        axis.scatter(
            positions,
            part[name],
            marker=marker,
            s=40,
            color=f"C{number}",
            label=label,
        )
    task = part["task"].iloc[0]
    label = error_label(task)
    labels = []
    for title, error in zip(method_titles(part), part["error"], strict=True):
        labels.append(f"{title}\n{label} {formatted(error, 2)}")
    axis.set_xticks(list(positions), labels, rotation=90)
    unit = "standard deviations" if task == "regression" else "probability"
    axis.set_ylabel(f"influence, {unit}")
    if (part["largest_influence"] > 0).any():
        logarithmic(axis.yaxis)
