"""Figures of a study, with one style: readable in print and to the colour-blind, the same bytes for the same data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import matplotlib
import pandas as pd

from npt.metrics import METRICS
from workflow.report.lookup import sweeps
from workflow.report.section import TASK_TITLES, Primary, counted, tasks_of
from workflow.report.summary import dataset_title, method_titles
from workflow.report.tables import corruption as corruption_table
from workflow.report.tables import corruption_changes
from workflow.report.tables import metrics as metrics_table
from workflow.report.tables import ranks as ranks_table

matplotlib.use("Agg")

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_WIDTH, ROW_HEIGHT, MARGIN = 3.1, 0.24, 1.0
NPT_COLOR, OTHER_COLOR = "#d55e00", "#0072b2"


def ranks(study: pd.DataFrame, primary: Primary) -> Figure:
    """Mean rank of every method with its standard error, a panel for each task."""
    tidy = ranks_table(study, primary).tidy
    tasks = tasks_of(study)
    figure, axes = _panels(len(tasks), tidy.groupby("task").size().max())
    for task, axis in zip(tasks, axes, strict=True):
        part = tidy[tidy["task"] == task]
        _points(axis, method_titles(part), part["mean_rank"], part["standard_error"])
        count = int(part["datasets"].max())
        metric = METRICS[primary[task]].title
        axis.set(title=f"{TASK_TITLES[task]}\n{metric}, {counted(count, 'dataset')}", xlabel="mean rank (1 is best)")
        axis.set_xlim(0.5, len(part) + 0.5)
    return figure


def metrics(study: pd.DataFrame, primary: Primary) -> Figure:
    """The primary metric of every method on every dataset: each fold, the mean, and its standard error."""
    tidy = metrics_table(study, primary).tidy
    tidy = tidy[[primary[task] == metric for task, metric in zip(tidy["task"], tidy["metric"], strict=True)]]
    names = list(dict.fromkeys(tidy["dataset"]))
    figure, axes = _panels(len(names), tidy.groupby("dataset").size().max())
    for dataset, axis in zip(names, axes, strict=True):
        part = tidy[tidy["dataset"] == dataset].sort_values("rank", kind="stable")
        metric = METRICS[part["metric"].iloc[0]]
        labels = method_titles(part)
        folds = study[(study["dataset"] == dataset) & (study["status"] == "ok")]
        heights = {label: len(labels) - 1 - place for place, label in enumerate(labels)}
        drawn = [heights[title] for title in method_titles(folds)]
        axis.plot(
            [row.get(f"test_{metric.name}") for row in folds.to_dict("records")],
            drawn,
            "|",
            color="0.6",
            markersize=7,
            zorder=1,
        )
        _points(axis, labels, part["mean"], part["standard_error"])
        arrow = "higher" if metric.higher_is_better else "lower"
        axis.set(title=dataset_title(dataset), xlabel=f"test {metric.title} ({arrow} is better)")
    return figure


def corruption(study: pd.DataFrame, primary: Primary) -> Figure:
    """Change of test performance under corruption of all other rows, for every dataset and fold."""
    tidy, folds = corruption_table(study, primary).tidy, study.assign(**corruption_changes(study))
    kinds = [kind for kind in (False, True) if kind in set(tidy["task"] == "regression")]
    figure, axes = _panels(len(kinds), 3 + tidy.groupby(tidy["task"] == "regression").size().max())
    for regression, axis in zip(kinds, axes, strict=True):
        part = tidy[(tidy["task"] == "regression") == regression]
        labels = [
            dataset_title(d) + ("" if part["variant"].nunique() == 1 else f", {v}")
            for d, v in zip(part["dataset"], part["variant"], strict=True)
        ]
        for place, (dataset, variant) in enumerate(zip(part["dataset"], part["variant"], strict=True)):
            own = folds[(folds["dataset"] == dataset) & (folds["variant"] == variant)]["change"]
            axis.plot(own, [len(labels) - 1 - place] * len(own), "|", color="0.6", markersize=9, zorder=1)
        _points(axis, labels, part["change"], part["standard_error"], highlight=labels)
        axis.axvline(0, color="0.3", linewidth=0.8, linestyle=":")
        axis.set_title("Regression" if regression else "Classification")
        axis.set_xlabel("relative change of RMSE, percent" if regression else "change of accuracy, points")
        axis.set_ylim(-0.6, len(labels) - 0.4)
    return figure


def intervention(study: pd.DataFrame, primary: Primary) -> Figure:
    """What a model predicts for a row as the target of its duplicate is set to other values: one line a row."""
    found = sweeps(study)
    figure, axes = _panels(max(1, len(found)), 10)
    for axis, (title, values, predicted) in zip(axes, found, strict=False):
        axis.plot(values, predicted.T, color=NPT_COLOR, alpha=0.5, linewidth=0.8)
        axis.plot(values, values, color="0.3", linestyle=":", linewidth=1.2)
        axis.set(title=title, xlabel="target of the duplicate, set", ylabel="prediction")
    return figure


FIGURES: dict[str, Callable[[pd.DataFrame, Primary], Figure]] = {
    "ranks": ranks,
    "metrics": metrics,
    "corruption": corruption,
    "intervention": intervention,
}


def _panels(count: int, rows: int) -> tuple[Figure, list[Axes]]:
    import matplotlib.pyplot as plt
    import seaborn as sns

    sns.set_theme(style="whitegrid", context="paper", palette="colorblind")
    plt.rcParams.update({"svg.hashsalt": "npt", "svg.fonttype": "path", "figure.dpi": 150})
    columns = 2 if count == 4 else min(count, 3)
    lines = -(-count // columns)
    size = (PANEL_WIDTH * columns + MARGIN, (ROW_HEIGHT * rows + MARGIN) * lines)
    figure, axes = plt.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")
    for unused in axes.flat[count:]:
        unused.set_visible(False)
    return figure, list(axes.flat[:count])


def _points(axis: Axes, labels: list[str], means: pd.Series, errors: pd.Series, highlight: list[str] | None = None) -> None:
    """Means with error bars, the first label on top; NPT, or `highlight`, in its own colour."""
    bright = set(labels if highlight is None else highlight)
    for place, (label, mean, error) in enumerate(zip(labels, means, errors, strict=True)):
        height = len(labels) - 1 - place
        if pd.isna(mean):
            axis.annotate("no result", (0.02, height), xycoords=("axes fraction", "data"), va="center", color="0.4", fontsize=8)
            continue
        special = label in bright if highlight is not None else label.startswith("NPT")
        color, marker = (NPT_COLOR, "D") if special else (OTHER_COLOR, "o")
        width = 0 if pd.isna(error) else error
        axis.errorbar(mean, height, xerr=width or None, fmt=marker, color=color, markersize=4.5, capsize=2.5, linewidth=1.2)
    axis.set_yticks(range(len(labels)), reversed(labels))
    axis.grid(axis="y", visible=False)
