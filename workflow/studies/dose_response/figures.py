"""Figures of the test error by the share of the other rows that is perturbed, or left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import legend_below, logarithmic, method_styles, panels
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.dose_response.tables import IN_TRAINING, PERTURBED, contexts, doses
from workflow.studies.errors import error_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 5.0  # ratio of errors beyond which their axis is logarithmic


def dose_response(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Test error as more of the other rows are shuffled, and as fewer of them are left. The dotted
    line is a constant prediction. A model with a flat line is not affected. Where a line reaches
    the dotted one, the model has no skill left.
    """
    means = doses(study)
    shares = means["share"].where(means["kind"] == "shuffle", 1 - means["share"])
    parts = means.assign(x=100 * shares).groupby(["dataset", "kind"], sort=False)
    figure, axes = _responses(means, [part for _, part in parts])
    for axis, ((dataset, kind), _) in zip(axes, parts, strict=False):
        axis.set_title(f"{dataset_title(str(dataset))}: others {PERTURBED[str(kind)]}")
        if kind == "shuffle":
            axis.set_xlabel("share of the other rows that is shuffled, %")
        else:
            logarithmic(axis.xaxis)
            axis.invert_xaxis()
            axis.set_xlabel("share of the other rows that is left, %")
    return figure


def context(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Test error with fewer and fewer train rows. Solid: a model that was trained on all of them
    has a share at prediction. Dashed: the same settings trained on this share, with the
    hyper-parameters of baselines searched anew. The dotted line is a constant prediction.
    """
    means = contexts(study)
    parts = means.assign(x=means["rows"]).groupby("dataset", sort=False)
    figure, axes = _responses(means, [part for _, part in parts])
    for axis, (dataset, _) in zip(axes, parts, strict=False):
        axis.set_title(dataset_title(str(dataset)))
        axis.set_xscale("log")
        axis.set_xlabel("train rows")
    return figure


def _responses(means: pd.DataFrame, parts: list[pd.DataFrame]) -> tuple[Figure, list[Axes]]:
    """A panel for each part: lines with bands of the standard error, by the column `x`."""
    styles = method_styles(method_titles(means))
    figure, axes = panels(max(1, len(parts)), 9)
    for axis, part in zip(axes, parts, strict=False):
        part = part.assign(title=method_titles(part))
        for title, lines in part.groupby("title", sort=False):
            color, marker = styles[str(title)]
            label = str(title)
            for kind, line in lines.groupby("kind", sort=False):
                style = "--" if kind == IN_TRAINING else "-"
                x = line["x"]
                axis.plot(x, line["error"], style, c=color, marker=marker, ms=4, label=label)
                error = line["standard_error"].fillna(0)
                low, high = line["error"] - error, line["error"] + error
                axis.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
                label = ""  # once in the legend
        constant = part["constant"].mean()
        axis.axhline(constant, color="0.3", linestyle=":", linewidth=1.2, label="a constant")
        axis.set_ylabel(error_label(part["task"].iloc[0]))
        if constant > WIDE * part["error"].min() > 0:
            logarithmic(axis.yaxis)
        else:
            axis.set_ylim(bottom=0)
    if parts:
        legend_below(figure, axes[0], columns=3)
    return figure, axes
