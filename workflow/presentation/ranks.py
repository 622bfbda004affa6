"""Ranks of methods within datasets, their means (paper Table 1), and tests over datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from npt.errors import UserError
from npt.metrics import METRICS
from npt.table import Task
from workflow.config.scoring import Ranking, Scoring
from workflow.presentation.cells import counted
from workflow.presentation.statistics import (
    LEVEL,
    METHOD,
    MODEL,
    standard_error,
    summarise,
    tasks_of,
    without_noise,
)

FEWEST_RANKED = 3  # datasets of which a mean rank is shown

# The paper ranked values with more digits than it prints. Of the orders of methods that print
# alike, this is one that gives its Table 1.
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
FEWEST_DATASETS = 5
FEWEST_METHODS = 3
FEWEST_DIFFERENCES = 6  # that sign flips can show to differ at the 5 % level
RESAMPLES = 9_999


def rank_methods(
    summary: pd.DataFrame, *, higher_is_better: bool, ranking: Ranking = "shared"
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
    means = without_noise(ranked["mean"])
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


@dataclass(frozen=True)
class RankTests:
    """Tests of methods' ranks over datasets (Demšar 2006).

    Attributes:
        summary: Mean, standard error and rank of every model by the metric of its task.
        ranks: A row per dataset, a column per (method, variant), the best mean rank first.
        refusal: Reason why there are no tests; empty if there are.
        p_value: Friedman's test, by permutation of the ranks within datasets, since its
            chi-squared form needs more datasets than there are.
        pairs: p-values of Nemenyi's test for every two methods; 1 if Friedman's does not reject.
    """

    summary: pd.DataFrame
    ranks: pd.DataFrame
    refusal: str
    p_value: float
    pairs: pd.DataFrame


def rank_tests(study: pd.DataFrame, scoring: Scoring) -> RankTests:
    """Test the hypothesis that all methods rank alike.

    Refused for fewer than five datasets or three methods, and where a rank is missing.
    """
    from scipy.stats import studentized_range

    summary = primary_summary(study, scoring)
    ranks = rank_matrix(summary)
    ranks = ranks[ranks.mean().sort_values(kind="stable").index]
    reason = refusal(ranks)
    p_value = float("nan")
    if not reason:
        p_value = _permuted_p_value(list(ranks.to_numpy().T), _squared_mean_ranks, "greater")
    datasets, methods = ranks.shape
    pairs = np.ones((methods, methods))
    if p_value < LEVEL:
        # `scikit_posthocs` ranks values again, which would undo the last ranks of failed methods.
        means = ranks.mean().to_numpy()
        distances = np.abs(means[:, None] - means)
        distances /= np.sqrt(methods * (methods + 1) / (6 * datasets))
        pairs = studentized_range.sf(np.sqrt(2) * distances, methods, np.inf)
    by_model = pd.DataFrame(pairs, ranks.columns, ranks.columns)
    return RankTests(summary, ranks, reason, p_value, by_model)


def refusal(ranks: pd.DataFrame) -> str:
    """Reason why ranks (datasets × methods) are not tested; empty if they are."""
    datasets, methods = ranks.shape
    if datasets < FEWEST_DATASETS:
        return f"{counted(datasets, 'dataset')}, too few for a test (at least {FEWEST_DATASETS})"
    if methods < FEWEST_METHODS:
        return f"{counted(methods, 'method')}, too few for a test (at least {FEWEST_METHODS})"
    for (method, _), column in ranks.items():  # type: ignore[misc]
        if column.isna().any():
            return f"{method} has no rank on {column.index[column.isna()][0]}"
    return ""


def sign_flip_p_value(differences: pd.Series) -> float:
    """Two-sided p-value that paired differences, one of each dataset, have a mean of zero.

    By flipping their signs: all combinations of up to 13 datasets, a random sample of more.
    """
    return _permuted_p_value([differences.to_numpy()], np.mean, "two-sided")


def _squared_mean_ranks(*columns: np.ndarray, axis: int) -> np.ndarray:
    """Under permutation within datasets their sum grows with Friedman's statistic."""
    return np.sum([column.mean(axis=axis) ** 2 for column in columns], axis=0)


def _permuted_p_value(samples: list[np.ndarray], statistic: Any, alternative: Any) -> float:
    from scipy.stats import permutation_test

    test = permutation_test(
        samples,
        statistic,
        permutation_type="samples",
        alternative=alternative,
        n_resamples=RESAMPLES,
        rng=0,
    )
    return float(test.pvalue)


def tests_over_datasets(
    rows: pd.DataFrame, by: list[str], value: str, family: Sequence[str] = ()
) -> pd.DataFrame:
    """Whether paired differences have a mean of zero, for each group with at least six datasets.

    Args:
        rows: A row for each dataset of a group; those without a difference do not count.
        by: Columns that name a group.
        value: Column of the differences.
        family: Those of them within whose values Holm's correction is made; none for all groups.

    Returns:
        Columns of a group, its `datasets`, `mean`, count of `positive` differences, and `p_value`.
    """
    from statsmodels.stats.multitest import multipletests

    known = rows.dropna(subset=value).groupby(by, sort=False)
    groups = known.filter(lambda group: len(group) >= FEWEST_DIFFERENCES).groupby(by, sort=False)
    tests = groups.agg(
        datasets=(value, "size"),
        mean=(value, "mean"),
        positive=(value, lambda differences: (differences > 0).sum()),
        p_value=(value, sign_flip_p_value),
    ).reset_index()
    families = list(family) or pd.Series(0, tests.index)
    p_values = tests.groupby(families)["p_value"]
    corrected = p_values.transform(lambda family: multipletests(family, method="holm")[1])
    return tests.assign(p_value=corrected)
