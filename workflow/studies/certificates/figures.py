"""Figures of certified bounds and influences, of the tightness of bounds, and of inversions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.drawing import fit_lines, heights, legend_below, logarithmic, panels
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.certificates.tables import influences, inversion_rows, tightness_rows
from workflow.studies.errors import error_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS: Mapping[str, Mapping[str, Any]] = {
    "bound": {"marker": "v", "s": 25, "color": "C0", "label": "certified"},
    "largest_influence": {"marker": "o", "s": 20, "color": "C1", "label": "largest found"},
    "corruption": {
        "marker": "|",
        "s": 80,
        "color": "C2",
        "label": "mean, all other rows permuted",
    },
}
SMALLEST = 1e-16  # influence or error that is drawn
LARGEST = 1e6


def influence(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """How far one other row moves a prediction, in standard deviations of the train targets or in
    probability. Triangle: the certified bound of all changes of its visible cells within the ranges
    of their columns, the product of the bounds of all blocks in the norm that gives less. It exists
    for tied distances without LayerNorm alone. Dot: the largest movement that gradient ascent found
    within these ranges. Bar: the mean movement when all other rows are permuted, which is more than
    one row and also moves hidden cells. The number of a model is its error on all test rows.
    Influences below 1e-16 are drawn there.
    """
    means = influences(study)
    parts = means.groupby("dataset", sort=False)
    figure, axes = panels(max(1, len(parts)), 3 + max(parts.size(), default=0))
    for axis, (dataset, part) in zip(axes, parts, strict=False):
        labels = []
        for title, error in zip(method_titles(part), part["error"], strict=True):
            labels.append(f"{title}, {formatted(error, 2)}")
        for name, mark in MARKS.items():
            axis.scatter(part[name].clip(SMALLEST), heights(labels), **mark)
        logarithmic(axis.xaxis)
        axis.set_yticks(range(len(labels)), reversed(labels))
        fit_lines(axis, labels)
        task = part["task"].iloc[0]
        unit = "standard deviations" if task == "regression" else "probability"
        axis.set_xlabel(f"influence, {unit}")
        axis.set_title(f"{dataset_title(str(dataset))}, with {error_label(task)}")
    if len(parts):
        legend_below(figure, axes[0], columns=3)
    return figure


def tightness(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """L2 attention of positions on a line, with one head and unit weights: its Lipschitz bound in
    the maximum norm, and the largest norm of a Jacobian that gradient ascent found.
    """
    curve = tightness_rows(study)
    figure, (axis,) = panels(1, 9)
    axis.plot(curve["positions"], curve["bound"], color="0.3", linestyle="--", label="bound")
    axis.plot(curve["positions"], curve["largest"], marker="o", markersize=4, label="found")
    axis.set_xlabel("positions")
    axis.set_ylabel("norm of the Jacobian")
    if len(curve):
        logarithmic(axis.xaxis)
        legend_below(figure, axis, columns=2)
    return figure


def inversion(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Largest error of fixed-point iterations that invert x + c f(x) / L, where f is attention and
    L the bound of L2 attention. L2 and dot product: 16 positions on a line, one at 0 and the others
    far from it. Trained L2: attention between eight rows, of the first block. Errors below 1e-16 or
    above 1e6 are drawn there.
    """
    parts = inversion_rows(study).groupby("attention", sort=False)
    figure, axes = panels(max(1, len(parts)), 8)
    for axis, (attention, errors) in zip(axes, parts, strict=False):
        for factor, line in errors.groupby("c"):
            shown = line["error"].clip(SMALLEST, LARGEST)
            axis.plot(line["iteration"], shown, label=f"c = {factor}")
        axis.set_xlabel("iterations")
        axis.set_ylabel("largest error")
        logarithmic(axis.yaxis)
        axis.set_title(str(attention))
    if len(parts):
        legend_below(figure, axes[0], columns=3)
    return figure
