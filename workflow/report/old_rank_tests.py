"""Whether methods differ over datasets: Friedman's test of their ranks, Nemenyi's of every two, bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.ranks import rank_methods
from workflow.report.section import (
    DASH,
    Section,
    Tabulated,
    bold,
    counted,
    number,
    probability,
    tasks_of,
)
from workflow.report.summary import LEVEL, method_title, summarise, tabulated, unfinished

FEWEST_DATASETS, FEWEST_METHODS, DRAWS = 5, 3, 9_999
COLUMNS = ["test", "method", "variant", "value", "low", "high", "against", "p_value", "reason"]
NOTE = "Ranks by each task's metric, over all tasks."
INTERVAL_NOTE = f"The interval has {1 - LEVEL:.0%} of the mean ranks of {DRAWS:,} bootstrap samples of the datasets."


@dataclass(frozen=True)
class RankTests:
    """Ranks (datasets × methods) with Friedman's and Nemenyi's tests of them (Demšar 2006), or in `refusal` why there are none.

    `p_value` is Friedman's, by permutation of the ranks within datasets, since its chi-squared form needs more of them than
    there are; `pairs` are Nemenyi's for every two methods, 1 where Friedman's test does not reject; `low` and `high` end the
    bootstrap intervals of the mean ranks.
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


def rank_matrix(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """Ranks by the metric of each dataset's task: a row for each finished dataset, a column for each (method, variant)."""
    frames, later = [], unfinished(study)
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        summary = summarise(study, task, metric.name)
        better, how = metric.higher_is_better, scoring.ranking
        frames.append(rank_methods(summary, higher_is_better=better, ranking=how, unranked=later))
    return (
        pd.concat(frames)
        .pivot(index="dataset", columns=["method", "variant"], values="rank")
        .drop(index=later)
    )


def rank_tests(study: pd.DataFrame, scoring: Scoring) -> RankTests:
    """Test the hypothesis that all methods rank alike; refused for fewer than five datasets or three methods."""
    ranks = rank_matrix(study, scoring)
    names, (datasets, methods) = ranks.columns, ranks.shape
    unknown, no_interval = (
        pd.DataFrame(np.nan, index=names, columns=names),
        (np.full(methods, np.nan), np.full(methods, np.nan)),
    )
    for count, noun, fewest in (
        (datasets, "dataset", FEWEST_DATASETS),
        (methods, "method", FEWEST_METHODS),
    ):
        if count < fewest:
            refusal = f"{counted(count, noun)}: too few for a test over datasets, at least {fewest} are needed"
            return RankTests(ranks, refusal, np.nan, unknown, *no_interval)
    if ranks.isna().any(axis=None):
        dataset, method = (
            ranks.isna().stack(["method", "variant"]).loc[lambda hole: hole].index[0][:2]
        )
        return RankTests(ranks, f"{method} has no rank on {dataset}", np.nan, unknown, *no_interval)
    from scipy.stats import bootstrap, permutation_test, studentized_range

    columns = [ranks[name].to_numpy() for name in names]
    found = permutation_test(
        columns,
        _spread,
        permutation_type="samples",
        alternative="greater",
        n_resamples=DRAWS,
        rng=0,
    )
    sampled = bootstrap(columns, _means, paired=True, n_resamples=DRAWS, method="percentile", rng=0)
    low, high = sampled.confidence_interval
    means = ranks.mean().to_numpy()
    distances = np.abs(means[:, None] - means) / np.sqrt(methods * (methods + 1) / (6 * datasets))
    pairs = (
        studentized_range.sf(np.sqrt(2) * distances, methods, np.inf)
        if found.pvalue < LEVEL
        else np.ones((methods, methods))
    )
    return RankTests(
        ranks, "", float(found.pvalue), pd.DataFrame(pairs, index=names, columns=names), low, high
    )


def over_datasets(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """Mean ranks over all datasets with bootstrap intervals, Friedman's test, and Nemenyi's for every two methods."""
    tests = rank_tests(study, scoring)
    title = f"All tasks: mean rank over {counted(len(tests.ranks), 'dataset')}"
    if tests.refusal:
        cells = _ranked(tests).drop(columns="95 % interval")
        return Tabulated(
            _tidy(tests), (Section(title, cells, (NOTE, f"No test: {tests.refusal}.")),)
        )
    differ = tests.p_value < LEVEL
    verdict = (
        f"Friedman's test of the hypothesis that all methods rank alike, by permutation of the ranks within datasets: "
        f"p = {probability(tests.p_value)}."
    )
    meaning = (
        "Methods differ."
        if differ
        else "It is not rejected, so that no two methods are shown to differ."
    )
    sections = [Section(title, _ranked(tests), (NOTE, INTERVAL_NOTE, f"{verdict} {meaning}"))]
    if differ:
        sections.append(
            Section(
                "Nemenyi's test of every two methods: p, bold below 0.05",
                _pairs(tests),
                fold="Which methods differ",
            )
        )
    return Tabulated(_tidy(tests), tuple(sections))


def _tidy(tests: RankTests) -> pd.DataFrame:
    """One row for each mean rank, one for Friedman's test, and one for each two methods."""
    names, reason = list(tests.ranks.columns), tests.refusal
    rows: list[dict[str, Any]] = [
        {
            "test": "mean_rank",
            "method": name[0],
            "variant": name[1],
            "value": mean,
            "low": low,
            "high": high,
            "reason": reason,
        }
        for name, mean, low, high in zip(
            names, tests.ranks.mean(), tests.low, tests.high, strict=True
        )
    ]
    rows.append({"test": "friedman", "p_value": tests.p_value, "reason": reason})
    rows += [
        {"test": "nemenyi", "method": first[0], "variant": first[1], "against": f"{second[0]}/{second[1]}", "reason": reason,
         "p_value": tests.pairs.iloc[place, place + 1 + further]}
        for place, first in enumerate(names) for further, second in enumerate(names[place + 1 :]) if tests.p_value < LEVEL
    ]  # fmt: skip
    return tabulated(rows, COLUMNS)[COLUMNS]


def _ranked(tests: RankTests) -> pd.DataFrame:
    means: dict[Any, float] = dict(zip(tests.ranks.columns, tests.ranks.mean(), strict=True))
    ends: dict[Any, Any] = dict(
        zip(tests.ranks.columns, zip(tests.low, tests.high, strict=True), strict=True)
    )
    return pd.DataFrame(
        {
            "Method": [method_title(*name) for name in tests.order],
            "Mean rank": [number(means[name], 2) for name in tests.order],
            "95 % interval": [
                " to ".join(number(end, 2) for end in ends[name]) for name in tests.order
            ],
        }
    )


def _pairs(tests: RankTests) -> pd.DataFrame:
    titles = [method_title(*name) for name in tests.order]
    values = tests.pairs.loc[tests.order, tests.order].to_numpy()
    cells = [
        [
            DASH if row == column else bold(probability(p), p < LEVEL)
            for column, p in enumerate(line)
        ]
        for row, line in enumerate(values)
    ]
    return pd.DataFrame(cells, columns=titles).assign(Method=titles)[["Method", *titles]]


def _spread(*columns: np.ndarray, axis: int) -> np.ndarray:
    """Sum of squared mean ranks, which grows with Friedman's statistic while ranks move within datasets."""
    return np.sum([column.mean(axis=axis) ** 2 for column in columns], axis=0)


def _means(*columns: np.ndarray, axis: int) -> np.ndarray:
    return np.stack([column.mean(axis=axis) for column in columns])
