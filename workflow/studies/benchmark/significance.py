"""Tables of the tests of a benchmark: over datasets and over folds."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.cells import (
    MISSING,
    Cell,
    count,
    counted,
    decimals,
    emphasised,
    interval,
    number,
    p_value,
    probability,
    text,
)
from workflow.report.fold_tests import fold_differences, reference_model
from workflow.report.notes import failure_notes
from workflow.report.rank_tests import RESAMPLES, RankTests
from workflow.report.rank_tests import rank_tests as test_ranks
from workflow.report.sections import Section, Table, with_notes
from workflow.report.statistics import INTERVAL, LEVEL, framed
from workflow.report.titles import dataset_title, method_title, method_titles
from workflow.studies.error_columns import texts

RANK_COLUMNS = [
    "test",
    "method",
    "variant",
    "value",
    "low",
    "high",
    "against",
    "p_value",
    "reason",
]
RANK_NOTE = "Ranks by each task's metric, over all tasks."
INTERVAL_NOTE = (
    f"The interval has {1 - LEVEL:.0%} of the mean ranks of {RESAMPLES:,} bootstrap samples of the "
    "datasets."
)
FRIEDMAN_NOTE = (
    "Friedman's test of the hypothesis that all methods rank alike, by permutation of the ranks "
    "within datasets: p = {p}. {verdict}"
)
DIFFER = "Methods differ."
NOT_REJECTED = "It is not rejected, so no two methods are shown to differ."
FOLD_NOTE = (
    "Mean difference of each method from {reference} on the same folds. ± is the standard error "
    "over folds. Interval and p allow for the rows that the training sets of the folds share "
    "(Nadeau and Bengio 2003: the variance counts 1/folds + test rows/training rows). p is "
    "two-sided, of Student's t, after Holm's correction for the comparisons of this table. Bold "
    "below {level}. The intervals are not corrected for their number."
)


def rank_tests(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Mean ranks over all datasets with intervals, Friedman's test, and Nemenyi's of every pair.

    There is no section where there is no test.
    """
    tests = test_ranks(study, scoring)
    if tests.refusal:
        return Table(_tidy(tests), ())
    title = f"All tasks: mean rank over {counted(len(tests.ranks), 'dataset')}"
    section = Section(title, _rank_columns(tests))
    verdict = DIFFER if tests.rejects else NOT_REJECTED
    friedman = FRIEDMAN_NOTE.format(p=probability(tests.p_value), verdict=verdict)
    sections = with_notes([section], RANK_NOTE, INTERVAL_NOTE, friedman)
    if tests.rejects:
        title = f"Nemenyi's test of every two methods: p, bold below {LEVEL}"
        pairs = Section(title, _pair_columns(tests), group="Which methods differ")
        sections = (*sections, pairs)
    return Table(_tidy(tests), sections)


def fold_tests(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Difference of every method from the reference model on each dataset's folds."""
    frames = fold_differences(study, scoring)
    reference = method_title(*reference_model(study))
    sections = [_fold_section(frame, reference) for frame in frames if len(frame)]
    tidy = pd.concat(frames, ignore_index=True)
    if tidy["p_value"].notna().any():
        note = FOLD_NOTE.format(reference=reference, level=LEVEL)
        return Table(tidy, with_notes(sections, note))
    return Table(tidy, tuple(sections))


def _tidy(tests: RankTests) -> pd.DataFrame:
    """A row per mean rank, one for Friedman's test, and one per pair of methods."""
    rows: list[dict[str, Any]] = []
    means = tests.ranks.mean()
    ends = zip(tests.ranks.columns, tests.low, tests.high, strict=True)
    for name, low, high in ends:
        facts = {
            "test": "mean_rank",
            "method": name[0],
            "variant": name[1],
        }
        rows.append(
            {
                **facts,
                "value": means[name],
                "low": low,
                "high": high,
            }
        )
    rows.append({"test": "friedman", "p_value": tests.p_value})
    if tests.rejects:
        rows += _tidy_pairs(tests)
    return framed(rows, RANK_COLUMNS)[RANK_COLUMNS].assign(reason=tests.refusal)


def _tidy_pairs(tests: RankTests) -> list[dict[str, Any]]:
    rows = []
    names = list(tests.pairs.columns)
    p_values = tests.pairs.to_numpy()
    for first, second in combinations(range(len(names)), 2):
        method, variant = names[first]
        row = {
            "test": "nemenyi",
            "method": method,
            "variant": variant,
            "against": "/".join(names[second]),
            "p_value": p_values[first, second],
        }
        rows.append(row)
    return rows


def _rank_columns(tests: RankTests) -> dict[str, list[Cell]]:
    means = tests.ranks.mean()
    low = pd.Series(tests.low, tests.ranks.columns)
    high = pd.Series(tests.high, tests.ranks.columns)
    return {
        "Method": [text(method_title(*name)) for name in tests.order],
        "Mean rank": [number(means[name], 2) for name in tests.order],
        INTERVAL: [interval(low[name], high[name], 2) for name in tests.order],
    }


def _pair_columns(tests: RankTests) -> dict[str, list[Cell]]:
    titles = [method_title(*name) for name in tests.order]
    p_values = tests.pairs.loc[tests.order, tests.order].to_numpy()
    columns = {"Method": texts(titles)}
    for index, title in enumerate(titles):
        cells = [_significance(p) for p in p_values[:, index]]
        cells[index] = MISSING
        columns[title] = cells
    return columns


def _significance(p: float) -> Cell:
    return emphasised(p_value(p), p < LEVEL)


def _fold_section(frame: pd.DataFrame, reference: str) -> Section:
    dataset = dataset_title(str(frame["dataset"].iloc[0]))
    metric = METRICS[str(frame["metric"].iloc[0])]
    better = "higher" if metric.higher_is_better else "lower"
    measure = f"{metric.title} ({better} is better)"
    title = f"{dataset}: {measure}, paired over folds with {reference}"
    reasons = frame["reason"].unique()
    notes = failure_notes(frame)
    if frame["p_value"].isna().all() and len(reasons) == 1:
        notes = (f"No test: {reasons[0]}.",)
    return Section(title, _fold_columns(frame), notes, "Differences over folds, tested")


def _fold_columns(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    numbers = frame[["difference", "standard_error", "low", "high", "p_holm"]].astype(float)
    differences = []
    for difference, error in zip(numbers["difference"], numbers["standard_error"], strict=True):
        differences.append(number(difference, decimals(difference), error=error, sign=True))
    intervals = zip(numbers["low"], numbers["high"], strict=True)
    return {
        "Method": texts(method_titles(frame)),
        "Folds": [count(folds) for folds in frame["folds"]],
        "Difference": differences,
        INTERVAL: [interval(low, high) for low, high in intervals],
        "p, Holm": [_significance(p) for p in numbers["p_holm"]],
    }
