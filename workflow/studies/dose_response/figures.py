"""Figures of the test error by the share of the other rows that is perturbed, or left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from workflow.config.scoring import Scoring
from workflow.report.drawing import EQUAL, WIDE, by_title, facets, legend_below, logarithmic
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.dose_response.tables import IN_TRAINING, PERTURBED, contexts, dose_folds
from workflow.studies.errors import error_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def dose_response(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Test error as more of the other rows are shuffled, and as fewer of them are left, with its
    standard error over folds. The dotted line is a constant prediction. A model with a flat line is
    not affected. Where a line reaches the dotted one, the model has no skill left.
    """
    folds = dose_folds(study)
    folds["title"] = method_titles(folds)
    folds["percent"] = 100 * folds["share"].where(folds["kind"] != "delete", 1 - folds["share"])
    styles = by_title(folds)
    figure, pairs = facets(folds, ["dataset", "kind"], 8)
    for (dataset, kind), part, axis in pairs:
        sns.lineplot(part, x="percent", y="error", dashes=False, errorbar="se", ax=axis, **styles)
        constant = part["constant"].mean()
        axis.axhline(constant, label="a constant", **EQUAL)
        if constant > WIDE * part["error"].min() > 0:
            logarithmic(axis.yaxis)
        else:
            axis.set_ylim(bottom=0)
        if kind == "delete":
            logarithmic(axis.xaxis)
            axis.invert_xaxis()
        change = "left" if kind == "delete" else "shuffled"
        axis.set(
            title=f"{dataset_title(dataset)}: others {PERTURBED[kind]}",
            xlabel=f"share of the other rows that is {change}, %",
            ylabel=error_label(part["task"].iloc[0]),
        )
    legend_below(figure, figure.axes[0], columns=3)
    return figure


def context(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Test error with fewer and fewer train rows. Solid: a model that was trained on all of them
    has a share at prediction. Dashed: the same settings trained on this share, with the
    hyper-parameters of baselines searched anew. The dotted line is a constant prediction.
    """
    means = contexts(study)
    means["title"] = method_titles(means)
    styles = by_title(means)
    figure, pairs = facets(means, "dataset", 10)
    for dataset, part, axis in pairs:
        for kind, lines in part.groupby("kind", sort=False):
            dashes = "--" if kind == IN_TRAINING else "-"
            sns.lineplot(
                lines,
                x="rows",
                y="error",
                dashes=False,
                errorbar=None,
                linestyle=dashes,
                ax=axis,
                **styles,
            )
        axis.axhline(part["constant"].mean(), label="a constant", **EQUAL)
        logarithmic(axis.xaxis)
        if part["error"].min() > 0:
            logarithmic(axis.yaxis)
        axis.set(
            title=dataset_title(str(dataset)),
            xlabel="train rows",
            ylabel=error_label(part["task"].iloc[0]),
        )
    legend_below(figure, figure.axes[0], columns=3)
    return figure
