"""Figures of a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from npt.metrics import METRICS, Metric
from workflow.config.scoring import Scoring
from workflow.report.cells import counted, probability
from workflow.report.drawing import (
    NPT_STYLES,
    OTHER_STYLE,
    WIDE,
    facets,
    logarithmic,
    panels,
    points,
)
from workflow.report.rank_tests import rank_tests
from workflow.report.ranks import primary_summary
from workflow.report.statistics import fold_means, with_columns
from workflow.report.titles import TASK_TITLES, dataset_title, method_title, method_titles
from workflow.studies.benchmark.scores import scores
from workflow.studies.benchmark.tables import ranks as ranks_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ranks(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean rank of each method over the datasets of a task, with its standard error over datasets.
    Further left is better.
    """
    tidy = ranks_table(study, scoring).tidy
    figure, tasks = facets(tidy.assign(title=method_titles(tidy)), "task")
    for task, part, axis in tasks:
        points(axis, part, "mean_rank", "standard_error")
        metric = METRICS[part["metric"].iloc[0]].title
        over = counted(int(part["datasets"].max()), "dataset")
        axis.set(
            title=f"{TASK_TITLES[task]}\n{metric}, {over}",
            xlabel="mean rank (1 is best)",
            xlim=(0.5, len(part) + 0.5),
            xticks=range(1, len(part) + 1, 1 + len(part) // 8),
        )
    return figure


def metrics(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Test metric of each method, in the order of the table of scores. Circles are folds. The
    coloured mark is their mean with its standard error. Where errors spread widely, the axis is
    logarithmic.
    """
    tidy = primary_summary(study, scoring)
    tidy = tidy.assign(title=method_titles(tidy))
    (table,) = scores(study, scoring).sections
    order = [cell.text for cell in table.columns["Method"]]
    rows = fold_means(study)
    rows = rows[rows["status"] == "ok"]
    rows = rows.assign(title=method_titles(rows))
    figure, datasets = facets(tidy, "dataset", columns=3, same_rows=True)
    for dataset, part, axis in datasets:
        metric = METRICS[part["metric"].iloc[0]]
        column = f"test_{metric.name}"
        points(axis, part.set_index("title").loc[order].reset_index(), "mean", "standard_error")
        sns.scatterplot(
            with_columns(rows[rows["dataset"] == dataset], [column]),
            x=column,
            y="title",
            facecolor="none",
            edgecolor="0.55",
            linewidth=0.7,
            zorder=4,
            ax=axis,
        )
        if _spreads_widely(part["mean"], metric):
            logarithmic(axis.xaxis)
        axis.set(title=dataset_title(dataset), xlabel=_label(metric), ylabel="")
    return figure


def critical_difference(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean ranks over the datasets of all tasks (diagram of Demšar 2006). A bar joins methods that
    Nemenyi's test does not separate. With too few datasets there is no test.
    """
    from scikit_posthocs import critical_difference_diagram

    tests = rank_tests(study, scoring)
    names = list(tests.ranks.columns)
    figure, (axis,) = panels(len(tests.ranks) and 1, len(names))
    if tests.ranks.empty:
        return figure
    titles = [method_title(*name) for name in names]
    colors = [NPT_STYLES.get(method, OTHER_STYLE)[0] for method, _ in names]
    verdict = tests.refusal
    if not tests.refusal:
        verdict = f"Friedman's test: p = {probability(tests.p_value)}"
    critical_difference_diagram(
        pd.Series(tests.ranks.mean().to_numpy(), titles),
        pd.DataFrame(tests.pairs.to_numpy(), titles, titles),
        ax=axis,
        label_fmt_left="{label} ({rank:.2f})",
        label_fmt_right="({rank:.2f}) {label}",
        color_palette=dict(zip(titles, colors, strict=True)),
        text_h_margin=0.1,
        marker_props={"s": 14},
        crossbar_props={"color": "0.3", "linewidth": 2.5},
        elbow_props={"linewidth": 0.8},
    )
    axis.grid(visible=False)
    over = counted(len(tests.ranks), "dataset")
    axis.set_title(f"Mean rank over {over} (1 is best)\n{verdict}")
    return figure


def _spreads_widely(means: pd.Series, metric: Metric) -> bool:
    """Whether errors of methods need a logarithmic axis."""
    return not metric.higher_is_better and means.max() > WIDE * means.min() > 0


def _label(metric: Metric) -> str:
    better = "higher" if metric.higher_is_better else "lower"
    return f"test {metric.title}\n({better} is better)"
