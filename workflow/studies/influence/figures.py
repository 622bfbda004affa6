"""Figure of the certified bound and the largest influence that was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.drawing import fit_lines, heights, legend_below, logarithmic, panels
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.errors import error_label
from workflow.studies.influence.tables import influences

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS: Mapping[str, Mapping[str, Any]] = {
    "bound": {
        "marker": "v",
        "s": 25,
        "color": "C0",
        "label": "certified",
    },
    "largest_influence": {
        "marker": "o",
        "s": 20,
        "color": "C1",
        "label": "largest found",
    },
    "corruption": {
        "marker": "|",
        "s": 80,
        "color": "C2",
        "label": "mean, all other rows permuted",
    },
}
SMALLEST = 1e-16  # influence that is drawn


def influence(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """A panel for each dataset, a line of marks for each model."""
    means = influences(study)
    datasets = list(dict.fromkeys(means["dataset"]))
    models = max(means.groupby("dataset").size(), default=0)
    figure, axes = panels(max(1, len(datasets)), 3 + models)
    for axis, dataset in zip(axes, datasets, strict=False):
        _panel(axis, means[means["dataset"] == dataset])
    if datasets:
        legend_below(figure, axes[0], columns=3)
    return figure


def _panel(axis: Axes, part: pd.DataFrame) -> None:
    """The models of a dataset, the first on top."""
    dataset = dataset_title(part["dataset"].iloc[0])
    task = part["task"].iloc[0]
    labels = []
    for title, error in zip(method_titles(part), part["error"], strict=True):
        labels.append(f"{title}, {formatted(error, 2)}")
    for name, mark in MARKS.items():
        shown = part[name].clip(SMALLEST)
        axis.scatter(shown, heights(labels), **mark)
    logarithmic(axis.xaxis)
    axis.set_yticks(range(len(labels)), reversed(labels))
    fit_lines(axis, labels)
    unit = "standard deviations" if task == "regression" else "probability"
    axis.set_xlabel(f"influence, {unit}")
    axis.set_title(f"{dataset}, with {error_label(task)}")
