"""Figure of the change of test performance under corruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import heights, panels, points, zero_line
from workflow.report.statistics import fold_means, of_model
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.corruption.tables import corruption as corruption_table
from workflow.studies.corruption.tables import with_changes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def corruption(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Change of every dataset and fold, in a panel for classification and one for regression."""
    tidy = corruption_table(study, scoring).tidy
    folds = fold_means(with_changes(study))
    is_regression = tidy["task"] == "regression"
    parts = [part for part in (tidy[~is_regression], tidy[is_regression]) if len(part)]
    figure, axes = panels(len(parts), 3 + max(map(len, parts)))
    for part, axis in zip(parts, axes, strict=True):
        _panel(axis, part, folds)
    return figure


def _panel(axis: Axes, part: pd.DataFrame, folds: pd.DataFrame) -> None:
    labels = _labels(part)
    for row, height in zip(
        part.to_dict("records"),
        heights(labels),
        strict=True,
    ):
        changes = of_model(folds, row)["change"]
        axis.plot(
            changes,
            [height] * len(changes),
            "|",
            color="0.6",
            markersize=6,
            zorder=1,
        )
    is_npt = list(part["method"] == "npt")
    highlight = [label for label, on in zip(labels, is_npt, strict=True) if on]
    points(
        axis,
        labels,
        part["change"],
        part["standard_error"],
        highlight=highlight,
    )
    zero_line(axis)
    if part["task"].iloc[0] == "regression":
        axis.set(title="Regression", xlabel="relative change of RMSE, percent")
    else:
        axis.set(title="Classification", xlabel="change of accuracy, points")
    axis.set_ylim(-0.6, len(labels) - 0.4)


def _labels(part: pd.DataFrame) -> list[str]:
    """Titles of datasets, with the method's where there are several."""
    datasets = [dataset_title(name) for name in part["dataset"]]
    methods = method_titles(part)
    if len(set(methods)) == 1:
        return datasets
    return [f"{dataset}, {method}" for dataset, method in zip(datasets, methods, strict=True)]
