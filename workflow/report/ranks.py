"""Ranks of methods within datasets, and their means (paper Table 1)."""

from __future__ import annotations

import pandas as pd

from npt.errors import UserError
from npt.metrics import METRICS
from npt.table import Task
from workflow.config.scoring import Ranking, Scoring
from workflow.report.statistics import METHOD, MODEL, standard_error, summarise, tasks_of

FEWEST_RANKED = 3  # datasets of which a mean rank is shown

# The paper ranked values with more digits than it prints. Of all orders of methods that print
# alike, this one gives its Table 1.
ORDER_OF_EQUALS = (
    "random_forest",
    "catboost",
    "gradient_boosting",
    "xgboost",
    "lightgbm",
    "mlp",
    "knn",
    "tabnet",
    "npt",
)


def rank_methods(
    summary: pd.DataFrame,
    *,
    higher_is_better: bool,
    ranking: Ranking = "shared",
) -> pd.DataFrame:
    """Add `rank` to a frame of dataset, method, variant, mean and reason; 1 is best.

    With `shared`, equal means share the average of their ranks. With `paper` no ranks are shared,
    as in its Table 1: equal means are ranked in `ORDER_OF_EQUALS`, other methods after those. In
    both, a method without a mean takes the last rank if its row has a reason.

    Raises:
        UserError: A method has no result on a dataset and no reason for it.
    """
    models = summary[METHOD].drop_duplicates()
    pairs = summary[["dataset"]].drop_duplicates().merge(models, how="cross")
    ranked = pairs.merge(summary, on=MODEL, how="left")
    holes = ranked[ranked["mean"].isna() & (ranked["reason"].fillna("") == "")]
    if len(holes):
        hole = holes.iloc[0]
        model = f"{hole['method']} ({hole['variant']})"
        raise UserError(f"{hole['dataset']}: {model} has no result and no reason; not ranked")
    means = ranked["mean"]
    tie_break = "average"
    if ranking == "paper":
        places = {name: place for place, name in enumerate(ORDER_OF_EQUALS)}
        order = ranked["method"].map(places).sort_values(kind="stable")  # NaN of others is last
        means = means.loc[order.index]
        tie_break = "first"
    ranks = means.groupby(ranked["dataset"]).rank(ascending=not higher_is_better, method=tie_break)
    return ranked.assign(rank=ranks.fillna(len(models)))


def ranked_summary(study: pd.DataFrame, scoring: Scoring, task: Task, metric: str) -> pd.DataFrame:
    """Mean, standard error and rank of every model of a task by a metric."""
    return rank_methods(
        summarise(study, task, metric),
        higher_is_better=METRICS[metric].higher_is_better,
        ranking=scoring.ranking,
    )


def primary_summary(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """Mean, standard error and rank of every model by the metric of its task."""
    frames = []
    for task in tasks_of(study):
        frames.append(ranked_summary(study, scoring, task, scoring.metrics[task]))
    return pd.concat(frames, ignore_index=True)


def rank_matrix(summary: pd.DataFrame) -> pd.DataFrame:
    """Ranks of a summary: datasets × (method, variant)."""
    return summary.pivot(index="dataset", columns=METHOD, values="rank")


def mean_ranks(ranked: pd.DataFrame) -> pd.DataFrame:
    """Mean rank over datasets with its standard error, best first."""
    groups = ranked.groupby(METHOD, sort=False)["rank"]
    means = groups.agg(mean_rank="mean", standard_error=standard_error, datasets="count")
    return means.reset_index().sort_values(["mean_rank", *METHOD], ignore_index=True)
