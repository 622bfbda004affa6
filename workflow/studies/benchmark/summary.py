"""Sentences of a benchmark."""

from __future__ import annotations

from typing import Any

import pandas as pd

from npt.metrics import METRICS
from npt.table import Task
from workflow.config.scoring import Scoring
from workflow.report.cells import counted, formatted, probability
from workflow.report.rank_tests import RankTests, rank_tests
from workflow.report.statistics import MODEL, tasks_of
from workflow.report.titles import NPTS, TASK_TITLES, method_titles
from workflow.studies.benchmark.tables import ranks
from workflow.studies.sentences import listed, per_method

CAVEAT = "With {folds} per dataset, differences within the error bars are no evidence."


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """The first of every task, and the NPTs' mean ranks."""
    tidy = ranks(study, scoring).tidy
    sentences = []
    for task in tasks_of(study):
        rows = study[study["task"] == task]
        means = tidy[tidy["task"] == task]
        sentences.append(_ranking(rows, means, task, scoring))
    folds = study.groupby(MODEL)["fold"].nunique().max()
    sentences.append(CAVEAT.format(folds=counted(folds, "fold")))
    return " ".join(sentences)


def headline(study: pd.DataFrame, scoring: Scoring) -> str:
    """The NPTs' mean ranks over all datasets, and whether a test separates methods."""
    tests = rank_tests(study, scoring)
    if tests.ranks.empty:
        return ""
    methods = counted(tests.ranks.shape[1], "method")
    datasets = counted(len(tests.ranks), "dataset")
    sentence = f"Mean rank among {methods} over {datasets}: {_placings(study, tests)}"
    if tests.refusal:
        return f"{sentence}; too few for a test."
    verdict = "separates methods" if tests.rejects else "does not separate methods"
    return f"{sentence}. Friedman's test {verdict} (p = {probability(tests.p_value)})."


def _ranking(
    rows: pd.DataFrame,
    means: pd.DataFrame,
    task: Task,
    scoring: Scoring,
) -> str:
    title = TASK_TITLES[task]
    if means["mean_rank"].isna().all():
        return f"{title}: no dataset has all its results yet."
    if not (rows["status"] == "ok").any():
        return f"{title}: no method has a result."
    best = means["mean_rank"].min()
    winners = method_titles(means[means["mean_rank"] == best])
    verb = "ranks first" if len(winners) == 1 else "share the first place"
    metric = METRICS[scoring.metrics[task]].title
    datasets = counted(int(means["datasets"].max()), "dataset")
    sentence = (
        f"{title} ({datasets}, {metric}): {listed(winners)} {verb} of {len(means)} "
        f"with mean rank {best:.2f}"
    )
    behind = means[means["method"].isin(NPTS) & (means["mean_rank"] > best)]
    if len(behind):
        pairs = zip(method_titles(behind), behind["mean_rank"], strict=True)
        sentence += f"; {listed([f'{name} has {mean:.2f}' for name, mean in pairs])}"
    return f"{sentence}."


def _placings(study: pd.DataFrame, tests: RankTests) -> str:
    """Mean ranks of the NPTs and of the best methods that have a result on some dataset."""
    failures = _failures(study, tests)
    means = tests.ranks.mean()
    ranked = [name for name in tests.order if failures.get(name, 0) < len(tests.ranks)]
    best = means[ranked].min() if ranked else None
    clauses = {}
    for name in tests.order:
        is_best = name in ranked and means[name] == best
        if name[0] not in NPTS and not is_best:
            continue
        clause = formatted(means[name], 2)
        if is_best:
            clause += " (the best)"
        if name in failures:
            clause += f", last for lack of a result on {failures[name]}"
        clauses[name] = clause
    return per_method(clauses)


def _failures(study: pd.DataFrame, tests: RankTests) -> dict[Any, int]:
    """Number of ranked datasets on which a method has no result."""
    failed = study[study["dataset"].isin(tests.ranks.index) & (study["status"] != "ok")]
    counts = failed.groupby(["method", "variant"])["dataset"].nunique()
    return counts.to_dict()
