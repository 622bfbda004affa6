"""Figure of the test error as more and more of the other rows are perturbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import (
    from_all_to_few,
    legend_below,
    logarithmic,
    method_styles,
    panels,
)
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.dose_response.tables import PERTURBED, doses
from workflow.studies.errors import error_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 5.0  # ratio of errors beyond which their axis is logarithmic


def dose_response(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Test error of every method: a pair of panels for each dataset, shuffled and deleted."""
    means = doses(study)
    means["title"] = method_titles(means)
    styles = method_styles(list(means["title"]))
    datasets = list(dict.fromkeys(means["dataset"]))
    pairs = [(dataset, kind) for dataset in datasets for kind in PERTURBED]
    figure, axes = panels(max(1, len(pairs)), 8)
    for axis, (dataset, kind) in zip(axes, pairs, strict=False):
        part = means[(means["dataset"] == dataset) & (means["kind"] == kind)]
        _panel(axis, part, kind, styles)
        axis.set_title(f"{dataset_title(dataset)}: others {PERTURBED[kind]}")
    if pairs:
        legend_below(figure, axes[0], columns=3)
    return figure


def _axis_of_doses(axis: Axes, percent: pd.Series, kind: str) -> None:
    """Shares that are shuffled; or what is left, from all rows to few on a logarithmic axis."""
    if kind == "shuffle":
        axis.set_xlabel("share of the other rows that is shuffled, %")
        return
    from_all_to_few(axis, percent)
    axis.set_xlabel("share of the other rows that is left, %")


def _panel(
    axis: Axes,
    part: pd.DataFrame,
    kind: str,
    styles: dict[str, tuple[str, str]],
) -> None:
    shares = part["share"]
    if kind == "delete":
        shares = 1 - shares
    part = part.assign(percent=100 * shares)
    for title, (color, marker) in styles.items():
        line = part[part["title"] == title]
        percent = line["percent"]
        mean = line["error"]
        error = line["standard_error"].fillna(0)
        axis.plot(
            percent,
            mean,
            color=color,
            marker=marker,
            markersize=4,
            label=title,
        )
        axis.fill_between(
            percent,
            mean - error,
            mean + error,
            color=color,
            alpha=0.15,
            linewidth=0,
        )
    constant = part["constant"].mean()
    axis.axhline(
        constant,
        color="0.3",
        linestyle=":",
        linewidth=1.2,
        label="a constant",
    )
    axis.set_ylabel(error_label(part["task"].iloc[0]))
    if constant > WIDE * part["error"].min() > 0:
        logarithmic(axis.yaxis)
    else:
        axis.set_ylim(bottom=0)
    _axis_of_doses(axis, part["percent"], kind)
