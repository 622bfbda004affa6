"""Figure of the test error as more and more of the other rows are perturbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import method_styles, panels
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.dose_response.tables import PERTURBED, doses

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        _panel(axis, part, styles)
        axis.set_title(f"{dataset_title(dataset)}: others {PERTURBED[kind]}")
        axis.set_xlabel(f"share of the other rows that is {PERTURBED[kind]}, %")
    if pairs:
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _panel(
    axis: Axes,
    part: pd.DataFrame,
    styles: dict[str, tuple[str, str]],
) -> None:
    for title, (color, marker) in styles.items():
        line = part[part["title"] == title]
        percent = 100 * line["share"]
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
    is_regression = part["task"].iloc[0] == "regression"
    axis.set_ylabel("test RMSE" if is_regression else "test errors, %")
    axis.set_ylim(bottom=0)
