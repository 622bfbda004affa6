"""How a benchmark is shown, and the figures of its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.cells import counted, p_value
from workflow.report.cost import cost
from workflow.report.drawing import (
    NPT_STYLES,
    OTHER_STYLE,
    facets,
    panels,
    points,
)
from workflow.report.rank_tests import rank_tests, refusal
from workflow.report.ranks import FEWEST_RANKED, primary_summary, rank_matrix
from workflow.report.titles import TASK_TITLES, method_title, method_titles
from workflow.studies.benchmark.bencheval import bencheval
from workflow.studies.benchmark.curves import curves
from workflow.studies.benchmark.scores import scores, scores_answer
from workflow.studies.benchmark.tables import metrics, published, ranks_table
from workflow.studies.view import Card, View

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
        verdict = f"Friedman's test: p = {p_value(tests.p_value).text}"
    diagram = critical_difference_diagram(
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
    for (bar,) in diagram["crossbars"]:  # whose points have the order of a set of names
        bar.set_xdata(sorted(bar.get_xdata()))
    axis.grid(visible=False)
    over = counted(len(tests.ranks), "dataset")
    axis.set_title(f"Mean rank over {over} (1 is best)\n{verdict}")
    return figure


VIEW = View(
    tables={
        "scores": scores,
        "metrics": metrics,
        "ranks": ranks_table,
        "published": published,
        "cost": cost,
        "bencheval": bencheval,
    },
    figures={"ranks": ranks, "critical_difference": critical_difference, "curves": curves},
    card=Card(
        "scores",
        answer=scores_answer,
        figures=("ranks", "critical_difference"),
    ),
    optional={
        "ranks": lambda study, scoring: (
            study.groupby("task")["dataset"].nunique().max() >= FEWEST_RANKED
        ),
        "critical_difference": lambda study, scoring: (
            not refusal(rank_matrix(primary_summary(study, scoring)))
        ),
    },
)
