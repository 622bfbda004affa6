"""Metrics of a prediction; the evaluator's alone, a learner never computes one (paper section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from npt.table import TASKS, Task

CLASSIFICATION: tuple[Task, ...] = ("binary", "multiclass")


@dataclass(frozen=True)
class Metric:
    """A metric: `compute(truth, prediction)` from class codes and probabilities (n, C), or from values (n,)."""

    name: str
    title: str
    tasks: tuple[Task, ...]
    higher_is_better: bool
    compute: Callable[[np.ndarray, np.ndarray], float]


def _accuracy(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean(predicted.argmax(1) == truth))


def _auroc(truth: np.ndarray, predicted: np.ndarray) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, predicted[:, 1]))


def negative_log_likelihood(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Mean negative log-likelihood in nats of class codes (n,) under probabilities (n, C) in float64 that sum to one.

    A probability of 0 counts as 2.2e-16, as in scikit-learn's `log_loss`, whose value this is; its checks cost milliseconds,
    and a search asks for it hundreds of times.
    """
    least = np.finfo(np.float64).eps
    own = predicted[np.arange(len(truth)), truth.astype(np.int64)]
    return float(-np.log(np.clip(own, least, 1 - least)).mean())


def _mse(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean((predicted - truth) ** 2))


def _rmse(truth: np.ndarray, predicted: np.ndarray) -> float:
    return _mse(truth, predicted) ** 0.5


METRICS = {
    metric.name: metric
    for metric in (
        Metric("auroc", "AUROC", ("binary",), True, _auroc),
        Metric("accuracy", "accuracy", CLASSIFICATION, True, _accuracy),
        Metric("nll", "NLL", CLASSIFICATION, False, negative_log_likelihood),
        Metric("rmse", "RMSE", ("regression",), False, _rmse),
        Metric("mse", "MSE", ("regression",), False, _mse),
    )
}

PAPER_METRICS: dict[Task, str] = {"binary": "auroc", "multiclass": "accuracy", "regression": "rmse"}
assert set(PAPER_METRICS) == set(TASKS)


def score(task: Task, truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Every metric of the task over the rows whose target is known; none if no target is."""
    known = ~np.isnan(truth)
    if not known.any():
        return {}
    truth, predicted = truth[known], predicted[known]
    return {
        name: metric.compute(truth, predicted)
        for name, metric in METRICS.items()
        if task in metric.tasks
    }
