"""Figure of certified bounds and influences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.drawing import facets, legend_below, logarithmic
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.certificates.tables import influences
from workflow.studies.errors import error_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS = {
    "bound": {"marker": "v", "s": 25, "label": "certified"},
    "largest_influence": {"marker": "o", "s": 20, "label": "largest found"},
    "corruption": {"marker": "|", "s": 80, "label": "mean, all other rows permuted"},
}
SMALLEST = 1e-16  # influence that is drawn


def influence(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """How far one other row moves a prediction, in standard deviations of the train targets or in
    probability. Triangle: the certified bound of all changes of its visible cells within the ranges
    of their columns, the product of the bounds of all blocks in the norm that gives less. It exists
    for tied distances without LayerNorm alone. Dot: the largest movement that gradient ascent found
    within these ranges. Bar: the mean movement when all other rows are permuted, which is more than
    one row and also moves hidden cells. The number of a model is its error on all test rows.
    Influences below 1e-16 are drawn there.
    """
    means = influences(study).dropna(subset="error")
    titles = zip(method_titles(means), means["error"], strict=True)
    means["label"] = [f"{title}, {formatted(error, 2)}" for title, error in titles]
    figure, datasets = facets(means, "dataset")
    for dataset, part, axis in datasets:
        for name, mark in MARKS.items():
            axis.scatter(part[name].clip(SMALLEST), part["label"], **mark)
        logarithmic(axis.xaxis)
        axis.invert_yaxis()
        task = part["task"].iloc[0]
        unit = "standard deviations" if task == "regression" else "probability"
        axis.set_xlabel(f"influence, {unit}")
        axis.set_title(f"{dataset_title(str(dataset))}, with {error_label(task)}")
    legend_below(figure, figure.axes[0], columns=3)
    return figure
