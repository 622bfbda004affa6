"""Figures of the tightness of the bound and of inversions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import legend_below, logarithmic, panels
from workflow.studies.lipschitz.tables import inversion_rows, tightness_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST = 1e-16  # error that is drawn
LARGEST = 1e6


def tightness(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """The bound and the largest norm by the number of positions."""
    curve = tightness_rows(study)
    figure, (axis,) = panels(1, 9)
    positions = curve["positions"]
    axis.plot(
        positions,
        curve["bound"],
        color="0.3",
        linestyle="--",
        label="bound",
    )
    axis.plot(
        positions,
        curve["largest"],
        marker="o",
        markersize=4,
        label="found",
    )
    axis.set_xlabel("positions")
    axis.set_ylabel("norm of the Jacobian")
    if len(curve):
        logarithmic(axis.xaxis)
        legend_below(figure, axis, columns=2)
    return figure


def inversion(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """A panel for each attention: the error by iteration, a line for each factor."""
    errors = inversion_rows(study)
    attentions = errors["attention"].unique()
    count = max(1, len(attentions))
    figure, axes = panels(count, 8)
    for axis, attention in zip(axes, attentions, strict=False):
        is_shown = errors["attention"] == attention
        _panel(axis, errors[is_shown])
        axis.set_title(attention)
    if len(attentions):
        legend_below(figure, axes[0], columns=3)
    return figure


def _panel(axis: Axes, errors: pd.DataFrame) -> None:
    for factor, line in errors.groupby("c"):
        shown = line["error"].clip(SMALLEST, LARGEST)
        axis.plot(
            line["iteration"],
            shown,
            label=f"c = {factor}",
        )
    axis.set_xlabel("iterations")
    axis.set_ylabel("largest error")
    logarithmic(axis.yaxis)
