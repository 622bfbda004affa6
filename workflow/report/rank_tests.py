"""Whether methods differ over datasets: Friedman's test, Nemenyi's test, bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.cells import counted
from workflow.report.ranks import rank_methods
from workflow.report.statistics import LEVEL, summarise, tasks_of

FEWEST_DATASETS = 5
FEWEST_METHODS = 3
RESAMPLES = 9_999


@dataclass(frozen=True)
class RankTests:
    """Tests of methods' ranks over datasets (Demšar 2006).

    Attributes:
        ranks: A row per dataset, a column per (method, variant).
        refusal: Reason why there are no tests; empty if there are.
        p_value: Friedman's test, by permutation of the ranks within datasets, since its
            chi-squared form needs more datasets than there are.
        pairs: p-values of Nemenyi's test for every two methods; 1 if Friedman's does not reject.
        low: Lower ends of the bootstrap intervals of the mean ranks, in the order of the columns.
        high: Their upper ends.
    """

    ranks: pd.DataFrame
    refusal: str
    p_value: float
    pairs: pd.DataFrame
    low: np.ndarray
    high: np.ndarray

    @property
    def order(self) -> list[tuple[str, str]]:
        """Methods and variants from the best mean rank to the worst."""
        return list(self.ranks.mean().sort_values(kind="stable").index)

    @property
    def rejects(self) -> bool:
        """Whether Friedman's test rejects that all methods rank alike."""
        return self.p_value < LEVEL


def rank_matrix(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """Ranks by the metric of each dataset's task: datasets × (method, variant)."""
    frames = []
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        ranked = rank_methods(
            summarise(study, task, metric.name),
            higher_is_better=metric.higher_is_better,
            ranking=scoring.ranking,
        )
        frames.append(ranked)
    return pd.concat(frames).pivot(index="dataset", columns=["method", "variant"], values="rank")


def rank_tests(study: pd.DataFrame, scoring: Scoring) -> RankTests:
    """Test the hypothesis that all methods rank alike.

    Refused for fewer than five datasets or three methods, and where a rank is missing.
    """
    ranks = rank_matrix(study, scoring)
    reason = refusal(ranks)
    if reason:
        return _refused(ranks, reason)
    p_value = _friedman(ranks)
    low, high = _bootstrap_intervals(ranks)
    p_values = np.ones((ranks.shape[1], ranks.shape[1]))
    if p_value < LEVEL:
        p_values = nemenyi(ranks)
    pairs = pd.DataFrame(p_values, index=ranks.columns, columns=ranks.columns)
    return RankTests(
        ranks,
        "",
        p_value,
        pairs,
        low,
        high,
    )


def nemenyi(ranks: pd.DataFrame) -> np.ndarray:
    """p-values (methods, methods) of Nemenyi's test, from ranks (datasets × methods).

    `scikit_posthocs` ranks values again, which would undo the last ranks of failed methods.
    """
    from scipy.stats import studentized_range

    datasets, methods = ranks.shape
    means = ranks.mean().to_numpy()
    distances = np.abs(means[:, None] - means)
    distances /= np.sqrt(methods * (methods + 1) / (6 * datasets))
    return studentized_range.sf(np.sqrt(2) * distances, methods, np.inf)


def refusal(ranks: pd.DataFrame) -> str:
    """Reason why ranks (datasets × methods) are not tested; empty if they are."""
    datasets, methods = ranks.shape
    if datasets < FEWEST_DATASETS:
        return _too_few(datasets, "dataset", FEWEST_DATASETS)
    if methods < FEWEST_METHODS:
        return _too_few(methods, "method", FEWEST_METHODS)
    for (method, _), column in ranks.items():  # type: ignore[misc]
        if column.isna().any():
            return f"{method} has no rank on {column.index[column.isna()][0]}"
    return ""


def _too_few(count: int, noun: str, fewest: int) -> str:
    size = counted(count, noun)
    return f"{size}, too few for a test over datasets (at least {fewest} are needed)"


def _refused(ranks: pd.DataFrame, refusal: str) -> RankTests:
    pairs = pd.DataFrame(np.nan, index=ranks.columns, columns=ranks.columns)
    unknown = np.full(ranks.shape[1], np.nan)
    return RankTests(
        ranks,
        refusal,
        np.nan,
        pairs,
        unknown,
        unknown,
    )


def _friedman(ranks: pd.DataFrame) -> float:
    from scipy.stats import permutation_test

    test = permutation_test(
        _columns(ranks),
        _squared_mean_ranks,
        permutation_type="samples",
        alternative="greater",
        n_resamples=RESAMPLES,
        rng=0,
    )
    return float(test.pvalue)


def sign_flip_p_value(differences: pd.Series) -> float:
    """Two-sided p-value that paired differences, one of each dataset, have a mean of zero.

    By flipping their signs: all combinations of up to 13 datasets, a random sample of more.
    """
    from scipy.stats import permutation_test

    test = permutation_test(
        (differences.to_numpy(),),
        np.mean,
        permutation_type="samples",
        n_resamples=RESAMPLES,
        rng=0,
    )
    return float(test.pvalue)


def _bootstrap_intervals(ranks: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    from scipy.stats import bootstrap

    sampled = bootstrap(
        _columns(ranks),
        _means,
        paired=True,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=0,
    )
    return sampled.confidence_interval.low, sampled.confidence_interval.high


def _columns(ranks: pd.DataFrame) -> list[np.ndarray]:
    return [ranks[name].to_numpy() for name in ranks.columns]


def _squared_mean_ranks(*columns: np.ndarray, axis: int) -> np.ndarray:
    """Sum of squared mean ranks; under permutation within datasets it grows with Friedman's."""
    return np.sum([column.mean(axis=axis) ** 2 for column in columns], axis=0)


def _means(*columns: np.ndarray, axis: int) -> np.ndarray:
    return np.stack([column.mean(axis=axis) for column in columns])
