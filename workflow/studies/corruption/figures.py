"""Figure of the effect on test performance under corruption."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import (
    fit_lines,
    heights,
    logarithmic,
    points,
    stacked,
    zero_line,
)
from workflow.report.statistics import fold_means, of_model
from workflow.report.titles import NPTS, dataset_title, method_titles
from workflow.studies.corruption.selection import EVERYTHING, Selection
from workflow.studies.corruption.tables import corruption as corruption_table
from workflow.studies.corruption.tables import with_changes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def corruption(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Effect for every dataset and selection, in panels for classification and regression.

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
    points(axis, labels, _scaled(part, part["effect"]), part["effect"] * np.nan, npts=npts)
    if part["task"].iloc[0] == "regression":
        zero_line(axis, at=1)
        logarithmic(axis.xaxis)
        axis.set(title="RMSE", xlabel="× (→ worse)")
    else:
        zero_line(axis)
        axis.set(title="Increase of NLL", xlabel="nats per row (→ worse)")
    fit_lines(axis, labels)


def _folds(axis: Axes, row: Mapping[Any, Any], height: int, study: pd.DataFrame) -> None:
    """A tick for each fold, on the band of the interval of an RMSE."""
    folds = fold_means(with_changes(study, _selection(row)))
    part = of_model(folds, row)
    axis.plot(
        _scaled(part, part["effect"]),
        [height] * len(part),
        "|",
        color="0.6",
        markersize=6,
        zorder=1,
    )
    if row["task"] == "regression":
        axis.plot(
            np.exp([row["low"], row["high"]]),
            [height, height],
            color="0.85",
            linewidth=5,
            solid_capstyle="butt",
            zorder=0,
        )


def _scaled(part: pd.DataFrame, effects: pd.Series) -> pd.Series:
    """Effects as they are drawn: ratios of RMSE, or differences of NLL."""
    return effects.map(math.exp) if part["task"].iloc[0] == "regression" else effects


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
