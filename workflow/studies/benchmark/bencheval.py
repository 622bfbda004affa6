"""Scores in the form of bencheval, TabArena's evaluator, and its leaderboard of them."""

from __future__ import annotations

import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.sections import Table
from workflow.report.statistics import METHOD, fold_means, tasks_of, with_columns
from workflow.report.titles import method_titles

COLUMNS = {
    "dataset": "task",
    "fold": "seed",
    "fit_seconds": "time_train_s",
    "predict_seconds": "time_infer_s",
}


def bencheval(study: pd.DataFrame, scoring: Scoring) -> Table:
    """`metric_error` is the metric, or 1 minus it where higher is better; only a file."""
    folds = fold_means(study)
    frames = []
    for task in tasks_of(folds):
        metric = METRICS[scoring.metrics[task]]
        column = f"test_{metric.name}"
        finished = folds[(folds["task"] == task) & (folds["status"] == "ok")]
        rows = with_columns(finished, [*COLUMNS, column])
        errors = 1 - rows[column] if metric.higher_is_better else rows[column]
        tidy = rows[list(COLUMNS)].rename(columns=COLUMNS)
        names = {"method": method_titles(rows), "metric": metric.name}
        frames.append(tidy.assign(**names, metric_error=errors))
    return Table(pd.concat(frames), ())


def leaderboard(study: pd.DataFrame, scoring: Scoring, reference: str) -> pd.DataFrame:
    """Elo, win rate and improvability of methods, whose titles are the index.

    `elo+` and `elo-` are the distances to the ends of Elo's 95 % interval, over datasets. Empty if
    a result is missing, or two methods have one title.

    Args:
        reference: Title of the method that has an Elo of 1000.
    """
    from bencheval.evaluator import BenchmarkEvaluator

    tidy = bencheval(study, scoring).tidy
    models = study.groupby(METHOD).ngroups
    if (study["status"] != "ok").any() or tidy["method"].nunique() < models:
        return pd.DataFrame()
    evaluator = BenchmarkEvaluator(seed_column="seed", columns_to_agg_extra=None)
    calibration = {"calibration_framework": reference, "post_calibrate": False}
    return evaluator.leaderboard(tidy, average_seeds=True, elo_kwargs=calibration)
