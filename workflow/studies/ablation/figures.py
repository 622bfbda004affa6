"""Figure of an ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.drawing import fit_lines, panels, points, zero_line
from workflow.report.titles import dataset_title
from workflow.studies.ablation.tables import changes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ablation(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Change of every variant's test metric in percent of its base, a panel per dataset.

    Without a base, the metric itself with its deviation over seeds.
    """
    variants = changes(study, scoring)
    datasets = list(variants["dataset"].unique())
    most = max(variants.groupby("dataset").size(), default=0)
    figure, axes = panels(max(1, len(datasets)), 3 + most)
    for name, axis in zip(datasets, axes, strict=False):
        part = variants[variants["dataset"] == name]
        titles = list(part["title"])
        has_base = part["change"].notna().any()
        points(
            axis,
            titles,
            part["change" if has_base else "mean"],
            part["error" if has_base else "deviation"],
            npts=dict(zip(titles, part["method"], strict=True)),
        )
        metric = METRICS[part["metric"].iloc[0]]
        better = "right" if metric.higher_is_better else "left"
        label = f"test {metric.title}"
        if has_base:
            zero_line(axis)
            label = f"change of {label}, %"
        axis.set_title(dataset_title(name))
        axis.set_xlabel(f"{label}\n({better} is better)")
        fit_lines(axis, titles)
    return figure
