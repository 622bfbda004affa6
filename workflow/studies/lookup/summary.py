"""Results of a lookup study in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted
from workflow.report.statistics import without_failures
from workflow.report.titles import dataset_title
from workflow.studies.sentences import NOT_PROBED, value_range


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """Correlation and error of every task."""
    study = without_failures(study)
    if study.empty:
        return NOT_PROBED
    clauses = []
    for (dataset, task), rows in study.groupby(["dataset", "lookup"], sort=False):
        name = f"{dataset_title(str(dataset))} ({str(task).replace('_', ' ')})"
        clauses.append(
            f"{name} {rows['correlation'].mean():.3f}, with an RMSE of {rows['rmse'].mean():.2f} "
            f"(nearest neighbour: {rows['nearest_rmse'].mean():.2f})"
        )
    return (
        "Where every row's target is on its duplicate, predictions of NPT correlate with the test "
        f"targets: {'; '.join(clauses)}. One is an exact lookup."
    )


def headline(study: pd.DataFrame, scoring: Scoring) -> str:
    """How well NPT reads targets off duplicates."""
    study = without_failures(study)
    of_npt = study[study["method"] == "npt"]
    if of_npt.empty:
        return ""
    means = of_npt.groupby(["dataset", "lookup"])["correlation"].mean()
    return (
        "Where a duplicate of each row shows its target, NPT's predictions for test rows correlate "
        f"with the truth by {value_range(means, 3)} ({counted(len(means), 'task')})."
    )
