"""Figures of the tightness of the bound and of inversions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import legend_below, logarithmic, panels
from workflow.studies.lipschitz.tables import inversion_rows, tightness_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST = 1e-16  # error that is drawn
LARGEST = 1e6


def tightness(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """The bound and the largest norm by the number of positions."""
    curve = tightness_rows(study)
    figure, (axis,) = panels(1, 9)
    axis.plot(curve["positions"], curve["bound"], color="0.3", linestyle="--", label="bound")
    axis.plot(curve["positions"], curve["largest"], marker="o", markersize=4, label="found")
    axis.set_xlabel("positions")
    axis.set_ylabel("maximum norm of the Jacobian")
    if len(curve):
        logarithmic(axis.xaxis)
        legend_below(figure, axis, columns=2)
    return figure


def inversion(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """A panel for each attention: the error by iteration, a line for each factor."""
    errors = inversion_rows(study)
    attentions = list(dict.fromkeys(errors["attention"]))
    figure, axes = panels(max(1, len(attentions)), 8)
    for axis, attention in zip(axes, attentions, strict=False):
        of_attention = errors[errors["attention"] == attention]
        for factor, line in of_attention.groupby("c"):
            shown = line["error"].clip(SMALLEST, LARGEST)
            axis.plot(line["iteration"], shown, label=f"c = {factor}")
        axis.set_title(str(attention))
        axis.set_xlabel("iterations")
        axis.set_ylabel("largest error")
        logarithmic(axis.yaxis)
    if attentions:
        legend_below(figure, axes[0], columns=3)
    return figure
