"""Figure of the effect on test performance under corruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from workflow.config.scoring import Scoring
from workflow.report.drawing import EQUAL, facets, logarithmic, points
from workflow.report.statistics import fold_means
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.corruption import CorruptionOptions
from workflow.studies.corruption.tables import corruption as corruption_table
from workflow.studies.corruption.tables import with_changes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def corruption(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """What corrupting other rows costs. Marks: geometric means over folds of the ratio of corrupted
    to clean RMSE, or mean increases of the NLL of classes. Ticks: folds. Grey bands: 95 % bootstrap
    intervals over test rows. A label names the columns and rows that are corrupted, unless it is
    all of them.
    """
    by_selection = []
    for selection in CorruptionOptions.of(study).selections:
        changes = fold_means(with_changes(study, selection))
        by_selection.append(
            changes.assign(permuted_columns=selection.columns, permuted_rows=selection.rows)
        )
    folds = _with_titles(pd.concat(by_selection, ignore_index=True))
    effects = _with_titles(corruption_table(study, scoring).tidy)
    figure, datasets = facets(effects, "dataset")
    scales: dict[bool, Axes] = {}
    for dataset, part, axis in datasets:
        is_regression = part["task"].iloc[0] == "regression"
        if is_regression in scales:
            axis.sharex(scales[is_regression])
        scales.setdefault(is_regression, axis)
        points(axis, part, "size")
        sns.scatterplot(
            folds[folds["dataset"] == dataset],
            x="size",
            y="title",
            marker="|",
            color="0.6",
            linewidth=1,
            zorder=2,
            ax=axis,
        )
        axis.axvline(is_regression, **EQUAL)
        if is_regression:
            low, high = np.exp(part["low"]), np.exp(part["high"])
            axis.hlines(part["title"], low, high, color="0.85", linewidth=5, zorder=1)
            logarithmic(axis.xaxis)
        label = "RMSE × (→ worse)" if is_regression else "increase of NLL, nats (→ worse)"
        axis.set(title=dataset_title(dataset), xlabel=label, ylabel="")
    return figure


def _with_titles(effects: pd.DataFrame) -> pd.DataFrame:
    """Effects with their `title` and `size`, a ratio of RMSE or a difference of NLL."""
    size = effects["effect"].where(effects["task"] != "regression", np.exp(effects["effect"]))
    titles = []
    selections = zip(effects["permuted_columns"], effects["permuted_rows"], strict=True)
    for title, (columns, rows) in zip(method_titles(effects), selections, strict=True):
        is_everything = columns == rows == "all"
        titles.append(title if is_everything else f"{title}: {columns}, {rows}")
    return effects.assign(size=size, title=titles)
