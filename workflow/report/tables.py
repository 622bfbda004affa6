"""Tables of a study: a tidy frame in full precision, and sections as a reader sees them."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from npt.metrics import METRICS
from workflow.report.ablation import ablation, validation_ranks
from workflow.report.attention import attention
from workflow.report.corruption import corruption
from workflow.report.cost import cost
from workflow.report.deletion import deletion
from workflow.report.dose import dose_response
from workflow.report.lookup import lookup
from workflow.report.published import beside_published
from workflow.report.ranks import mean_ranks, rank_methods
from workflow.report.section import (
    DASH,
    TASK_TITLES,
    Primary,
    Section,
    Tabulated,
    counted,
    decimals,
    notes,
    plus_minus,
    tasks_of,
)
from workflow.report.summary import dataset_title, method_titles, metrics_of, summarise


def ranks(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """Rank-order tables, one for each task that occurs."""
    frames, sections = [], []
    for task in tasks_of(study):
        metric = METRICS[primary[task]]
        means = mean_ranks(rank_methods(summarise(study, task, metric.name), higher_is_better=metric.higher_is_better))
        frames.append(means.assign(task=task, metric=metric.name)[["task", "metric", *means.columns]])
        names = method_titles(means)
        shown = [plus_minus(m, e, 2) for m, e in zip(means["mean_rank"], means["standard_error"], strict=True)]
        count = int(means["datasets"].max())
        title = f"{TASK_TITLES[task]}: mean rank by {metric.title} over {counted(count, 'dataset')}"
        remarks = ("One dataset: a rank, with no standard error.",) if count == 1 else ()
        sections.append(Section(title, pd.DataFrame({"Method": names, "Mean rank": shown}), remarks))
    return Tabulated(pd.concat(frames, ignore_index=True), tuple(sections))


def metrics(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """Per-dataset tables, one for each task and metric: mean ± standard error over folds."""
    frames, sections = [], []
    for task in tasks_of(study):
        for name in metrics_of(task, primary):
            metric = METRICS[name]
            summary = rank_methods(summarise(study, task, name), higher_is_better=metric.higher_is_better)
            frames.append(summary)
            arrow = "higher" if metric.higher_is_better else "lower"
            title = f"{TASK_TITLES[task]}: test {metric.title} ({arrow} is better)"
            sections.append(Section(title, _by_dataset(summary), notes(summary)))
    return Tabulated(pd.concat(frames, ignore_index=True), tuple(sections))


TABLES: dict[str, Callable[[pd.DataFrame, Primary], Tabulated]] = {
    "ranks": ranks,
    "metrics": metrics,
    "cost": cost,
    "published": beside_published,
    "ablation": ablation,
    "validation_ranks": validation_ranks,
    "corruption": corruption,
    "dose_response": dose_response,
    "deletion": deletion,
    "attention": attention,
    "lookup": lookup,
}


def _by_dataset(summary: pd.DataFrame) -> pd.DataFrame:
    cells = [plus_minus(m, e, decimals(m)) for m, e in zip(summary["mean"], summary["standard_error"], strict=True)]
    cells = [
        f"**{cell}**" if rank == summary.loc[summary["dataset"] == d, "rank"].min() and cell != DASH else cell
        for cell, rank, d in zip(cells, summary["rank"], summary["dataset"], strict=True)
    ]
    names = method_titles(summary)
    long = pd.DataFrame({"Method": names, "dataset": summary["dataset"].map(dataset_title), "cell": cells})
    wide = long.pivot(index="Method", columns="dataset", values="cell").reindex(list(dict.fromkeys(names)))
    return wide[list(dict.fromkeys(long["dataset"]))].rename_axis(columns=None).reset_index()
