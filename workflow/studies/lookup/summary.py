"""Results of a lookup study in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted
from workflow.report.statistics import without_failures
from workflow.report.titles import dataset_title
from workflow.studies.sentences import NOT_PROBED, by_model, value_range
from workflow.studies.study_kind import Card

TASK = ["dataset", "lookup"]
QUESTION = "Can they copy a target from another row?"


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """Correlation and error of every task."""
    study = without_failures(study)
    if study.empty:
        return NOT_PROBED
    clauses: list[str] = []
    for title, of_model in by_model(study):
        tasks = [_task(rows) for _, rows in of_model.groupby(TASK, sort=False)]
        clauses.append(f"{title} on {'; '.join(tasks)}")
    return (
        "Where every row's target is on its duplicate, predictions correlate with the test "
        f"targets: {'. '.join(clauses)}. One is an exact lookup."
    )


def _task(rows: pd.DataFrame) -> str:
    """Correlation and error of a model on one task."""
    first = rows.iloc[0]
    name = f"{dataset_title(first['dataset'])} ({first['lookup'].replace('_', ' ')})"
    return (
        f"{name} {rows['correlation'].mean():.3f}, with an RMSE of {rows['rmse'].mean():.2f} "
        f"(nearest neighbour: {rows['nearest_rmse'].mean():.2f})"
    )


def cards(study: pd.DataFrame, scoring: Scoring) -> list[Card]:
    """How well each model reads targets off duplicates."""
    evidence = headline(study, scoring)
    return [Card(QUESTION, "", evidence)] if evidence else []


def headline(study: pd.DataFrame, scoring: Scoring) -> str:
    """How well each model reads targets off duplicates, in a sentence."""
    study = without_failures(study)
    clauses: list[str] = []
    for title, of_model in by_model(study):
        means = of_model.groupby(TASK)["correlation"].mean()
        tasks = counted(len(means), "task")
        clauses.append(f"{title} {value_range(means, 3)} ({tasks})")
    if not clauses:
        return ""
    return (
        "Where a duplicate of each row shows its target, predictions for test rows correlate with "
        f"the truth: {', '.join(clauses)}."
    )
