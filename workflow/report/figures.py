"""Figures of a study, with one style: readable in print and to the colour-blind, the same bytes for the same data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import matplotlib
import numpy as np
import pandas as pd

from npt.disturbance import KINDS
from npt.metrics import METRICS
from workflow.choices import Choices
from workflow.report.ablation import changes
from workflow.report.attention import attention_maps
from workflow.report.corruption import corruption as corruption_table
from workflow.report.corruption import corruption_changes
from workflow.report.deletion import deletion_rows
from workflow.report.dose import doses
from workflow.report.lookup import sweeps
from workflow.report.section import TASK_TITLES, counted, tasks_of
from workflow.report.summary import MODEL, dataset_title, method_title, method_titles, of_model
from workflow.report.tables import metrics as metrics_table
from workflow.report.tables import ranks as ranks_table

matplotlib.use("Agg")

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_WIDTH, ROW_HEIGHT, MARGIN = 3.1, 0.24, 1.0
NPT_COLOR, OTHER_COLOR = "#d55e00", "#0072b2"
COLORS, MARKERS = (NPT_COLOR, OTHER_COLOR, "#009e73", "#cc79a7", "#56b4e9", "#e69f00"), "Dos^vP"


def ranks(study: pd.DataFrame, choices: Choices) -> Figure:
    """Mean rank of every method with its standard error, a panel for each task."""
    tidy = ranks_table(study, choices).tidy
    tasks = tasks_of(study)
    figure, axes = _panels(len(tasks), tidy.groupby("task").size().max())
    for task, axis in zip(tasks, axes, strict=True):
        part = tidy[tidy["task"] == task]
        _points(axis, method_titles(part), part["mean_rank"], part["standard_error"])
        count = int(part["datasets"].max())
        metric = METRICS[choices.metrics[task]].title
        axis.set(title=f"{TASK_TITLES[task]}\n{metric}, {counted(count, 'dataset')}", xlabel="mean rank (1 is best)")
        axis.set_xlim(0.5, len(part) + 0.5)
    return figure


def metrics(study: pd.DataFrame, choices: Choices) -> Figure:
    """The primary metric of every method on every dataset: each fold, the mean, and its standard error."""
    tidy = metrics_table(study, choices).tidy
    tidy = tidy[[choices.metrics[task] == metric for task, metric in zip(tidy["task"], tidy["metric"], strict=True)]]
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


def corruption(study: pd.DataFrame, choices: Choices) -> Figure:
    """Change of test performance under corruption of all other rows, for every dataset and fold."""
    tidy, folds = corruption_table(study, choices).tidy, study.assign(**corruption_changes(study))
    kinds = [kind for kind in (False, True) if kind in set(tidy["task"] == "regression")]
    figure, axes = _panels(len(kinds), 3 + tidy.groupby(tidy["task"] == "regression").size().max())
    for regression, axis in zip(kinds, axes, strict=True):
        part = tidy[(tidy["task"] == "regression") == regression]
        models = set(method_titles(part))
        labels = [
            dataset_title(d) + ("" if len(models) == 1 else f", {title}")
            for d, title in zip(part["dataset"], method_titles(part), strict=True)
        ]
        for place, row in enumerate(part.to_dict("records")):
            own = of_model(folds, row)["change"]
            axis.plot(own, [len(labels) - 1 - place] * len(own), "|", color="0.6", markersize=9, zorder=1)
        bright = [label for label, method in zip(labels, part["method"], strict=True) if method == "npt"]
        _points(axis, labels, part["change"], part["standard_error"], highlight=bright)
        axis.axvline(0, color="0.3", linewidth=0.8, linestyle=":")
        axis.set_title("Regression" if regression else "Classification")
        axis.set_xlabel("relative change of RMSE, percent" if regression else "change of accuracy, points")
        axis.set_ylim(-0.6, len(labels) - 0.4)
    return figure


def intervention(study: pd.DataFrame, choices: Choices) -> Figure:
    """What a model predicts for a row as the target of its duplicate is set to other values: one line a row."""
    found = sweeps(study)
    figure, axes = _panels(max(1, len(found)), 10)
    for axis, (title, values, right, predicted) in zip(axes, found, strict=False):
        axis.plot(values, predicted.T, color=NPT_COLOR, alpha=0.5, linewidth=0.8)
        axis.plot(values, right, color="0.3", linestyle=":", linewidth=1.2)
        axis.set(title=title, xlabel="target of the duplicate, set", ylabel="prediction")
    return figure


def ablation(study: pd.DataFrame, choices: Choices) -> Figure:
    """Change of every variant's test metric from its base, in percent of it, a panel for each dataset."""
    found = changes(study, choices)
    names = list(dict.fromkeys(found["dataset"]))
    figure, axes = _panels(max(1, len(names)), 3 + max(found.groupby("dataset").size(), default=0))
    for name, axis in zip(names, axes, strict=False):
        part = found[found["dataset"] == name]
        metric = METRICS[part["metric"].iloc[0]]
        _points(axis, list(part["title"]), part["change"], part["error"], highlight=list(part["title"]))
        axis.axvline(0, color="0.3", linewidth=0.8, linestyle=":")
        better = "right" if metric.higher_is_better else "left"
        axis.set(title=dataset_title(name), xlabel=f"change of test {metric.title}, %\n({better} is better)")
        axis.set_ylim(-0.6, len(part) - 0.4)
    return figure


def dose_response(study: pd.DataFrame, choices: Choices) -> Figure:
    """Test error of every method as more of the other rows are shuffled (left of a pair) or deleted (right)."""
    found = doses(study)
    names = list(dict.fromkeys(found["dataset"]))
    figure, axes = _panels(max(1, 2 * len(names)), 8, columns=2)
    keys = list(found[["method", "variant"]].drop_duplicates().itertuples(index=False, name=None))
    styles = {key: (COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]) for i, key in enumerate(keys)}
    for axis, (name, kind) in zip(axes, [(name, kind) for name in names for kind in KINDS], strict=False):
        part = found[(found["dataset"] == name) & (found["kind"] == kind)]
        for key in keys:
            line = part[(part["method"] == key[0]) & (part["variant"] == key[1])]
            color, marker = styles[key]
            share, error = 100 * line["share"], line["standard_error"].fillna(0)
            axis.plot(share, line["error"], color=color, marker=marker, markersize=4, label=method_title(*key))
            axis.fill_between(share, line["error"] - error, line["error"] + error, color=color, alpha=0.15, linewidth=0)
        axis.axhline(part["constant"].mean(), color="0.3", linestyle=":", linewidth=1.2, label="a constant")
        axis.set(
            title=f"{dataset_title(name)}: others {'shuffled' if kind == 'shuffle' else 'deleted'}",
            xlabel="share of the other rows, %",
            ylabel="test RMSE" if part["task"].iloc[0] == "regression" else "test errors, %",
        )
        axis.set_ylim(bottom=0)
    if names:
        axes[0].legend(fontsize=7, frameon=True)
    return figure


def deletion(study: pd.DataFrame, choices: Choices) -> Figure:
    """Distance to the rows that were kept, against that to those deleted and to random ones, a point for each probed row."""
    found = deletion_rows(study)
    models = found[MODEL].drop_duplicates().to_dict("records")
    figure, axes = _panels(max(1, len(models)), 10)
    for model, axis in zip(models, axes, strict=False):
        part = of_model(found, model)
        for name, color, marker in (("deleted", OTHER_COLOR, "o"), ("random", NPT_COLOR, "D")):
            axis.plot(part[name], part["kept"], marker, color=color, markersize=4, label=f"against {name}")
        every = part[["kept", "deleted", "random"]].to_numpy()
        ends = [float(np.nanmin(every)), float(np.nanmax(every))]
        axis.plot(ends, ends, color="0.3", linestyle=":", linewidth=1.2)
        title = f"{dataset_title(model['dataset'])}\n{method_title(model['method'], model['variant'])}"
        axis.set(title=title, xlabel="mean distance to the others", ylabel="mean distance to the kept")
        axis.legend(fontsize=7)
    return figure


def attention(study: pd.DataFrame, choices: Choices) -> Figure:
    """Heat maps of every head's attention to other rows, from near to far, a line for each probed row."""
    found = attention_maps(study)
    lines = [(title, layer, places, maps) for title, places, maps in found for layer in sorted({one for one, _ in places})]
    widest = max((1 + head for _, places, _ in found for _, head in places), default=1)
    plt = _style("white")
    size = (1.5 * widest + 1.6, 1.35 * max(1, len(lines)) + 0.6)
    figure, axes = plt.subplots(max(1, len(lines)), widest, figsize=size, squeeze=False, layout="constrained")
    image = None
    for place, (title, layer, places, maps) in enumerate(lines):
        for head, axis in enumerate(axes[place]):
            axis.set(xticks=[], yticks=[])
            if (layer, head) not in places:
                axis.set_visible(False)
                continue
            relative = np.log2(np.maximum(maps[places.index((layer, head))], 2.0**-8))
            image = axis.imshow(relative, cmap="PuOr_r", vmin=-2, vmax=2, aspect="auto", interpolation="nearest")
            axis.set_title(f"layer {layer}, head {head}", fontsize=7)
        if not place or lines[place - 1][0] != title:
            axes[place, 0].set_title(f"{title}\nlayer {layer}, head 0", fontsize=7)
        axes[place, 0].set_ylabel("probed rows", fontsize=7)
    for axis in axes[-1]:
        axis.set_xlabel("others, near to far", fontsize=7)
    if image is not None:
        figure.colorbar(image, ax=axes, label="log2 of attention / mean", extend="both", shrink=0.8)
    return figure


FIGURES: dict[str, Callable[[pd.DataFrame, Choices], Figure]] = {
    "ranks": ranks,
    "metrics": metrics,
    "ablation": ablation,
    "corruption": corruption,
    "dose_response": dose_response,
    "deletion": deletion,
    "attention": attention,
    "intervention": intervention,
}


def _style(name: Literal["white", "whitegrid"]) -> Any:
    """matplotlib.pyplot with the one style and what makes files reproducible."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    sns.set_theme(style=name, context="paper", palette="colorblind")
    plt.rcParams.update({"svg.hashsalt": "npt", "svg.fonttype": "path", "figure.dpi": 150})
    return plt


def _panels(count: int, rows: int, columns: int | None = None) -> tuple[Figure, list[Axes]]:
    plt = _style("whitegrid")
    columns = columns or (2 if count == 4 else min(count, 3))
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
