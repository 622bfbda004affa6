"""Figures of a study: by name, functions of its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.ablation import changes
from workflow.report.old_cost import cost as cost_table
from workflow.report.drawing import COLORS, PAGE, method_styles, panels, points, pyplot, zero_line
from workflow.report.probe_figures import (
    attention,
    corruption,
    deletion,
    dose_response,
    intervention,
)
from workflow.report.old_rank_tests import rank_tests
from workflow.report.section import TASK_TITLES, counted, probability, tasks_of
from workflow.report.summary import LEVEL, dataset_title, method_title, method_titles
from workflow.report.tables import metrics as metrics_table
from workflow.report.tables import ranks as ranks_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ranks(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean rank of every method with its standard error, a panel for each task."""
    tidy = ranks_table(study, scoring).tidy
    tasks = tasks_of(study)
    figure, axes = panels(len(tasks), tidy.groupby("task").size().max())
    for task, axis in zip(tasks, axes, strict=True):
        part = tidy[tidy["task"] == task]
        points(axis, method_titles(part), part["mean_rank"], part["standard_error"])
        count = int(part["datasets"].max())
        metric = METRICS[scoring.metrics[task]].title
        axis.set(
            title=f"{TASK_TITLES[task]}\n{metric}, {counted(count, 'dataset')}",
            xlabel="mean rank (1 is best)",
        )
        axis.set_xlim(0.5, len(part) + 0.5)
    return figure


def metrics(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """The primary metric of every method on every dataset: each fold, the mean, and its standard error."""
    tidy = metrics_table(study, scoring).tidy
    tidy = tidy[
        [
            scoring.metrics[task] == metric
            for task, metric in zip(tidy["task"], tidy["metric"], strict=True)
        ]
    ]
    names = list(dict.fromkeys(tidy["dataset"]))
    figure, axes = panels(len(names), tidy.groupby("dataset").size().max())
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
            markersize=5,
            zorder=1,
        )
        points(axis, labels, part["mean"], part["standard_error"])
        arrow = "higher" if metric.higher_is_better else "lower"
        axis.set(title=dataset_title(dataset), xlabel=f"test {metric.title} ({arrow} is better)")
    return figure


def ablation(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Change of every variant's test metric from its base, in percent of it, a panel for each dataset."""
    found = changes(study, scoring)
    names = list(dict.fromkeys(found["dataset"]))
    figure, axes = panels(max(1, len(names)), 3 + max(found.groupby("dataset").size(), default=0))
    for name, axis in zip(names, axes, strict=False):
        part = found[found["dataset"] == name]
        metric = METRICS[part["metric"].iloc[0]]
        points(
            axis, list(part["title"]), part["change"], part["error"], highlight=list(part["title"])
        )
        zero_line(axis)
        better = "right" if metric.higher_is_better else "left"
        axis.set(
            title=dataset_title(name),
            xlabel=f"change of test {metric.title}, %\n({better} is better)",
        )
        axis.set_ylim(-0.6, len(part) - 0.4)
    return figure


def critical_difference(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean ranks over all datasets on a line; a bar joins methods that Nemenyi's test does not tell apart (Demšar 2006)."""
    from scikit_posthocs import critical_difference_diagram

    tests = rank_tests(study, scoring)
    names = [method_title(*name) for name in tests.order]
    if tests.ranks.empty:
        figure, axis = pyplot().subplots(figsize=(PAGE, 0.5), layout="constrained")
        axis.set_axis_off()
        axis.set_title("No dataset has all its results yet")
        return figure
    ranks = pd.Series(tests.ranks.mean()[tests.order].to_numpy(), names)
    pairs = (
        tests.pairs.loc[tests.order, tests.order].to_numpy()
        if not tests.refusal
        else np.zeros((len(names), len(names)))
    )
    figure, axis = pyplot().subplots(figsize=(PAGE, 0.9 + 0.16 * len(names)), layout="constrained")
    critical_difference_diagram(
        ranks, pd.DataFrame(pairs, names, names), ax=axis, label_fmt_left="{label} ({rank:.2f})",
        label_fmt_right="({rank:.2f}) {label}", color_palette={name: _color(name) for name in names}, text_h_margin=0.1,
        marker_props={"s": 14}, crossbar_props={"color": "0.3", "linewidth": 2.5}, elbow_props={"linewidth": 0.8},
    )  # fmt: skip
    axis.grid(visible=False)
    apart = (
        "a bar joins methods that Nemenyi's test does not tell apart"
        if tests.p_value < LEVEL
        else "no two are told apart"
    )
    bars = f"Friedman's test: p = {probability(tests.p_value)}; {apart}"
    axis.set_title(
        f"Mean rank over {counted(len(tests.ranks), 'dataset')} (1 is best)\n{tests.refusal or bars}"
    )
    return figure


def cost(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """The metric of every method against the seconds that a fold of it took, search and training together."""
    from matplotlib.lines import Line2D
    from seaborn import scatterplot

    spent = cost_table(study, scoring).tidy
    scores = metrics_table(study, scoring).tidy
    scores = scores[
        [
            scoring.metrics[task] == metric
            for task, metric in zip(scores["task"], scores["metric"], strict=True)
        ]
    ]
    both = scores.merge(spent, on=["dataset", "method", "variant"])
    both = both.assign(title=method_titles(both), seconds=both["search_seconds"])
    names = list(dict.fromkeys(scores["dataset"]))
    styles = method_styles(list(both["title"]))
    looks: dict[str, Any] = {
        "hue": "title", "hue_order": list(styles), "palette": [color for color, _ in styles.values()],
        "style": "title", "style_order": list(styles), "markers": [marker for _, marker in styles.values()],
    }  # fmt: skip
    figure, axes = panels(max(1, len(names)), 9)
    for name, axis in zip(names, axes, strict=False):
        part = both[both["dataset"] == name]
        if part.empty:
            axis.set_title(f"{dataset_title(name)}: no result")
            axis.set_axis_off()
            continue
        for row in part.dropna(subset="standard_error").to_dict("records"):
            axis.errorbar(
                row["seconds"],
                row["mean"],
                yerr=row["standard_error"],
                color=styles[row["title"]][0],
                capsize=2,
            )
        scatterplot(part, x="seconds", y="mean", ax=axis, s=26, zorder=3, legend=False, **looks)
        metric = METRICS[scores.loc[scores["dataset"] == name, "metric"].iloc[0]]
        arrow = "higher" if metric.higher_is_better else "lower"
        axis.set(title=dataset_title(name), xlabel="seconds a fold", xscale="log")
        axis.set_ylabel(f"test {metric.title}\n({arrow} is better)")
    marks = [
        Line2D([], [], color=color, marker=marker, linestyle="", label=title)
        for title, (color, marker) in styles.items()
    ]
    if marks:
        figure.legend(
            handles=marks,
            loc="outside lower center",
            ncols=5 if len(names) > 1 else 3,
            frameon=False,
        )
    return figure


FIGURES: dict[str, Callable[[pd.DataFrame, Scoring], Figure]] = {
    "ranks": ranks,
    "critical_difference": critical_difference,
    "metrics": metrics,
    "cost": cost,
    "ablation": ablation,
    "corruption": corruption,
    "dose_response": dose_response,
    "deletion": deletion,
    "attention": attention,
    "intervention": intervention,
}


def _color(title: str) -> str:
    return COLORS[0] if title.startswith("NPT") else COLORS[1]
