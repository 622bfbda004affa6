"""Tables of a study: a tidy frame in full precision, and sections as a reader sees them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Ranking, Scoring
from workflow.report.ablation import ablation, validation_ranks
from workflow.report.attention import attention
from workflow.report.corruption import corruption
from workflow.report.old_cost import cost
from workflow.report.deletion import deletion
from workflow.report.dose import dose_response
from workflow.report.old_fold_tests import over_folds
from workflow.report.lookup import lookup
from workflow.report.old_published import (
    DIFFERENCE,
    WHOLE,
    beside_published,
    marked,
    published_ranks,
    standard_errors,
)
from workflow.report.old_rank_tests import over_datasets
from workflow.report.ranks import mean_ranks, rank_methods
from workflow.report.section import (
    DASH,
    TASK_TITLES,
    Section,
    Tabulated,
    bold,
    counted,
    decimals,
    noted,
    notes,
    plus_minus,
    tasks_of,
)
from workflow.report.summary import (
    dataset_title,
    method_titles,
    metrics_of,
    summarise,
    unfinished,
    waiting,
)

RANKS_NOTE = (
    "The paper's ranks are those of the values it prints in Tables 8, 10 and 11, of these methods on these datasets; the "
    "difference is in standard errors over datasets, bold beyond two."
)
RANKINGS: dict[Ranking, str] = {
    "shared": "Equal means share the average of their ranks; a method that failed with a reason is last.",
    "paper": "The paper's conventions: no shared ranks; a method that failed with a reason is last.",
}


def ranks(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """Rank-order tables, one for each task that occurs."""
    frames, sections, later, how = [], [], unfinished(study), scoring.ranking
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        summary = summarise(study, task, metric.name)
        ranked = rank_methods(
            summary, higher_is_better=metric.higher_is_better, ranking=how, unranked=later
        )
        names = [name for name in dict.fromkeys(summary["dataset"]) if name not in later]
        means = _beside_the_paper(mean_ranks(ranked), metric.name, names, how)
        frames.append(
            means.assign(task=task, metric=metric.name)[["task", "metric", *means.columns]]
        )
        count = int(means["datasets"].max())
        title = f"{TASK_TITLES[task]}: mean rank by {metric.title} over {counted(count, 'dataset')}"
        remarks = ("One dataset: a rank, with no standard error.",) if count == 1 else ()
        sections.append(Section(title, _rank_cells(means), remarks))
    tidy = pd.concat(frames, ignore_index=True)
    remarks = [RANKINGS[how], *([RANKS_NOTE] if tidy["published"].notna().any() else [])]
    return Tabulated(tidy, noted(sections, *remarks, *waiting(later)))


def metrics(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """Per-dataset tables, one for each task and metric: mean ± standard error over folds."""
    frames, sections, later = [], [], unfinished(study)
    for task in tasks_of(study):
        for name in metrics_of(task, scoring.metrics[task]):
            metric, how = METRICS[name], scoring.ranking
            own = summarise(study, task, name)
            summary = rank_methods(
                own, higher_is_better=metric.higher_is_better, ranking=how, unranked=later
            )
            frames.append(summary)
            arrow = "higher" if metric.higher_is_better else "lower"
            title = f"{TASK_TITLES[task]}: test {metric.title} ({arrow} is better)"
            sections.append(
                Section(
                    title,
                    _by_dataset(summary),
                    notes(summary),
                    "" if name == scoring.metrics[task] else "Other metrics",
                )
            )
    return Tabulated(pd.concat(frames, ignore_index=True), tuple(sections))


TABLES: dict[str, Callable[[pd.DataFrame, Scoring], Tabulated]] = {
    "ranks": ranks,
    "metrics": metrics,
    "rank_tests": over_datasets,
    "fold_tests": over_folds,
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


def _beside_the_paper(
    means: pd.DataFrame, metric: str, datasets: list[str], ranking: Ranking
) -> pd.DataFrame:
    """Mean ranks with the paper's of the same methods on the same datasets, NaN where it does not have them."""
    theirs = published_ranks(metric, datasets, list(means["method"]), ranking)
    if theirs is None or not set(means["variant"]) <= set(WHOLE):
        return means.assign(published=np.nan, published_error=np.nan, standard_errors=np.nan)
    same = theirs.set_index("method").loc[means["method"]]
    means = means.assign(
        published=same["mean_rank"].to_numpy(), published_error=same["standard_error"].to_numpy()
    )
    columns = ["mean_rank", "standard_error", "published", "published_error"]
    return means.assign(
        standard_errors=[standard_errors(*map(float, row)) for row in means[columns].to_numpy()]
    )


def _rank_cells(means: pd.DataFrame) -> pd.DataFrame:
    cells = pd.DataFrame(
        {
            "Method": method_titles(means),
            "Mean rank": [
                plus_minus(m, e, 2)
                for m, e in zip(means["mean_rank"], means["standard_error"], strict=True)
            ],
            "Paper": [
                plus_minus(m, e, 2)
                for m, e in zip(means["published"], means["published_error"], strict=True)
            ],
            DIFFERENCE: [marked(errors) for errors in means["standard_errors"]],
        }
    )
    return cells.loc[
        :, [name not in ("Paper", DIFFERENCE) or (cells[name] != DASH).any() for name in cells]
    ]


def _by_dataset(summary: pd.DataFrame) -> pd.DataFrame:
    cells = [
        plus_minus(m, e, decimals(m))
        for m, e in zip(summary["mean"], summary["standard_error"], strict=True)
    ]
    cells = [
        bold(cell, rank == summary.loc[summary["dataset"] == d, "rank"].min() and cell != DASH)
        for cell, rank, d in zip(cells, summary["rank"], summary["dataset"], strict=True)
    ]
    names = method_titles(summary)
    long = pd.DataFrame(
        {"Method": names, "dataset": summary["dataset"].map(dataset_title), "cell": cells}
    )
    wide = long.pivot(index="Method", columns="dataset", values="cell").reindex(
        list(dict.fromkeys(names))
    )
    return wide[list(dict.fromkeys(long["dataset"]))].rename_axis(columns=None).reset_index()
