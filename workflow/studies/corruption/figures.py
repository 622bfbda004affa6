"""Figure of the change of test performance under corruption."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import (
    fit_lines,
    heights,
    points,
    stacked,
    symmetric_logarithmic,
    zero_line,
)
from workflow.report.statistics import fold_means, of_model
from workflow.report.titles import NPTS, dataset_title, method_titles
from workflow.studies.corruption import CorruptionOptions
from workflow.studies.corruption.selection import EVERYTHING, Selection
from workflow.studies.corruption.tables import corruption as corruption_table
from workflow.studies.corruption.tables import with_changes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LINEAR = 10  # percent up to which the axis of the RMSE is linear


def corruption(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Change of every dataset and selection, in panels for classification and regression.

    They stand below each other, so that they fit a phone and a column beside a table.
    """
    tidy = corruption_table(study, scoring).tidy
    is_regression = tidy["task"] == "regression"
    parts = [part for part in (tidy[~is_regression], tidy[is_regression]) if len(part)]
    figure, axes = stacked([len(part) for part in parts])
    for part, axis in zip(parts, axes, strict=True):
        _panel(axis, part, study)
    return figure


def _panel(axis: Axes, part: pd.DataFrame, study: pd.DataFrame) -> None:
    labels = _labels(part)
    for row, height in zip(
        part.to_dict("records"),
        heights(labels),
        strict=True,
    ):
        _folds(axis, row, height, study)
    methods = zip(labels, part["method"], strict=True)
    npts = {label: method for label, method in methods if method in NPTS}
    points(
        axis,
        labels,
        part["change"],
        part["standard_error"],
        npts=npts,
    )
    zero_line(axis)
    if part["task"].iloc[0] == "regression":
        # Changes span decades: near zero the axis is linear.
        symmetric_logarithmic(axis, LINEAR)
        axis.set(title="Increase of RMSE", xlabel="percent (→ worse)")
    else:
        axis.set(title="Change of accuracy", xlabel="points (← worse)")
    fit_lines(axis, labels)


def _folds(axis: Axes, row: Mapping[Any, Any], height: int, study: pd.DataFrame) -> None:
    """A tick for each fold, on the band of the interval."""
    folds = fold_means(with_changes(study, _selection(row)))
    changes = of_model(folds, row)["change"]
    axis.plot(
        changes,
        [height] * len(changes),
        "|",
        color="0.6",
        markersize=6,
        zorder=1,
    )
    axis.plot(
        [row["low"], row["high"]],
        [height, height],
        color="0.85",
        linewidth=5,
        solid_capstyle="butt",
        zorder=0,
    )


def _selection(row: Mapping[Any, Any]) -> Selection:
    return Selection(row["permuted_columns"], row["permuted_rows"])


def _labels(part: pd.DataFrame) -> list[str]:
    """Titles of datasets, with the method's and the selection's where there are several."""
    methods = method_titles(part)
    selections = [_selection(row) for row in part.to_dict("records")]
    labels = [dataset_title(name) for name in part["dataset"]]
    if len(set(methods)) > 1:
        labels = [f"{label}, {method}" for label, method in zip(labels, methods, strict=True)]
    if set(selections) == {EVERYTHING}:
        return labels
    pairs = zip(labels, selections, strict=True)
    return [f"{label}: {selection.columns}, {selection.rows}" for label, selection in pairs]


def _has_selections(study: pd.DataFrame) -> bool:
    return CorruptionOptions.of(study).selections != [EVERYTHING]


CAPTIONS = {"corruption": {_has_selections: "A label names the columns and rows that are."}}
