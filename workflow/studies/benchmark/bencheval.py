"""Scores in the form that bencheval, TabArena's evaluator, reads: a row per method and fold."""

from __future__ import annotations

import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.sections import Section, Table
from workflow.report.statistics import fold_means, tasks_of, with_columns
from workflow.report.titles import method_titles
from workflow.studies.benchmark.tables import DETAILS
from workflow.studies.error_columns import numbers, texts


def bencheval(study: pd.DataFrame, scoring: Scoring) -> Table:
    """`metric_error` is the metric, or 1 minus it where higher is better."""
    metrics = [f"test_{scoring.metrics[task]}" for task in tasks_of(study)]
    folds = with_columns(fold_means(study), [*metrics, "fit_seconds", "predict_seconds"])
    frames = []
    for task in tasks_of(folds):
        rows = folds[(folds["task"] == task) & (folds["status"] == "ok")]
        metric = METRICS[scoring.metrics[task]]
        values = rows[f"test_{metric.name}"]
        columns = {
            "method": method_titles(rows),
            "task": rows["dataset"],
            "seed": rows["fold"],
            "metric": metric.name,
            "metric_error": 1 - values if metric.higher_is_better else values,
            "time_train_s": rows["fit_seconds"],
            "time_infer_s": rows["predict_seconds"],
        }
        frames.append(pd.DataFrame(columns))
    tidy = pd.concat(frames)
    cells = {
        "Method": texts(tidy["method"]),
        "Dataset": texts(tidy["task"]),
        "Fold": numbers(tidy["seed"], 0),
        "Metric": texts(tidy["metric"]),
        "Error": numbers(tidy["metric_error"], 4),
    }
    return Table(tidy, (Section("Errors by fold", cells, (), DETAILS),))
