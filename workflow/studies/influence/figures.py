"""Figure of the certified bound and the largest influence that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.drawing import heights, legend_below, logarithmic, panels
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.errors import error_label
from workflow.studies.influence.tables import influences

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = {
    "bound": ("v", 25, "certified"),
    "largest_influence": ("o", 20, "largest found"),
    "corruption": ("|", 80, "mean, all other rows permuted"),
}
SMALLEST = 1e-16  # influence that is drawn


def influence(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """A panel for each dataset, a line of marks for each model."""
    means = influences(study)
    datasets = list(dict.fromkeys(means["dataset"]))
    models = max(means.groupby("dataset").size(), default=0)
    figure, axes = panels(max(1, len(datasets)), 3 + models)
    for axis, dataset in zip(axes, datasets, strict=False):
        part = means[means["dataset"] == dataset]
        _panel(axis, part)
        metric = error_label(part["task"].iloc[0])
        axis.set_title(f"{dataset_title(dataset)}, with {metric}")
    if datasets:
        legend_below(figure, axes[0], columns=3)
    return figure


def _panel(axis: Axes, part: pd.DataFrame) -> None:
    labels = []
    for title, error in zip(method_titles(part), part["error"], strict=True):
        labels.append(f"{title}, {formatted(error, 2)}")
    for number, (name, (marker, size, label)) in enumerate(MARKERS.items()):
        axis.scatter(
            part[name].clip(SMALLEST),
            heights(labels),
            marker=marker,
            s=size,
            color=f"C{number}",
            label=label,
        )
    logarithmic(axis.xaxis)
    axis.set_yticks(range(len(labels)), reversed(labels))
    axis.set_ylim(-0.6, len(labels) - 0.4)
    is_regression = part["task"].iloc[0] == "regression"
    unit = "standard deviations" if is_regression else "probability"
    axis.set_xlabel(f"influence, {unit}")
