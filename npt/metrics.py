"""Metrics of a prediction (paper section 4.1). A learner computes none on test rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from npt.interface import Prediction
from npt.table import TASKS, Part, Split, Table, Task

BINS = 15  # of confidence, in the calibration error
CLASSIFICATION: tuple[Task, ...] = ("binary", "multiclass")


@dataclass(frozen=True)
class Metric:
    """A metric.

    `compute(truth, predicted)` takes class codes (n,) and probabilities (n, C), or values (n,).
    Values lie between `minimum` and `maximum`; AUROC is NaN where one class occurs.
    """

    name: str
    title: str
    tasks: tuple[Task, ...]
    compute: Callable[[np.ndarray, np.ndarray], float]
    higher_is_better: bool = False
    minimum: float = 0
    maximum: float = float("inf")


def negative_log_likelihood(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Mean negative log-likelihood in nats.

    Equals scikit-learn's `log_loss`, whose input checks cost milliseconds in each of the hundreds
    of calls of a search. A probability of 0 counts as 2.2e-16.

    Args:
        truth: Class codes (n,).
        predicted: Probabilities (n, C) float64, each row of which sums to one.
    """
    return float(negative_log_likelihoods(truth, predicted).mean())


def negative_log_likelihoods(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Negative log-likelihood (n,) of each row; arguments as in `negative_log_likelihood`."""
    smallest = np.finfo(np.float64).eps
    rows = np.arange(len(truth))
    probabilities = predicted[rows, truth.astype(np.int64)]
    clipped = np.clip(probabilities, smallest, 1 - smallest)
    return -np.log(clipped)


def _accuracy(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean(predicted.argmax(1) == truth))


def _auroc(truth: np.ndarray, predicted: np.ndarray) -> float:
    from sklearn.metrics import roc_auc_score

    if len(np.unique(truth)) < 2:
        return float("nan")
    return float(roc_auc_score(truth, predicted[:, 1]))


def _brier(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Mean squared distance of the probabilities to the class (Brier 1950)."""
    hits = np.eye(predicted.shape[1])[truth.astype(int)]
    return float(np.mean(np.sum((predicted - hits) ** 2, axis=1)))


def _ece(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Mean distance of accuracy to confidence over bins of confidence (Guo et al. 2017)."""
    confidence = predicted.max(1)
    gaps = (predicted.argmax(1) == truth) - confidence
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, gaps)).sum() / len(truth))


def _mse(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean((predicted - truth) ** 2))


def _rmse(truth: np.ndarray, predicted: np.ndarray) -> float:
    return _mse(truth, predicted) ** 0.5


METRICS = {
    metric.name: metric
    for metric in (
        Metric("auroc", "AUROC", ("binary",), _auroc, higher_is_better=True, maximum=1),
        Metric("accuracy", "accuracy", CLASSIFICATION, _accuracy, higher_is_better=True, maximum=1),
        Metric("nll", "NLL", CLASSIFICATION, negative_log_likelihood),
        Metric("brier", "Brier score", CLASSIFICATION, _brier, maximum=2),
        Metric("ece", "calibration error", CLASSIFICATION, _ece, maximum=1),
        Metric("rmse", "RMSE", ("regression",), _rmse),
        Metric("mse", "MSE", ("regression",), _mse),
    )
}
METRICS_VERSION = f"1 {' '.join(METRICS)}"
"""Of other versions, rows are scored anew. The number is raised by hand when a metric changes."""

PAPER_METRICS: dict[Task, str] = {
    "binary": "auroc",
    "multiclass": "accuracy",
    "regression": "rmse",
}
assert set(PAPER_METRICS) == set(TASKS)


def metrics_of(task: Task) -> dict[str, Metric]:
    """Metrics of a task by name."""
    return {name: metric for name, metric in METRICS.items() if task in metric.tasks}


def score(task: Task, truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Every metric of a task, over the rows whose target is known.

    Args:
        truth: Class codes or target values (n,), NaN where unknown.
        predicted: Probabilities (n, C) or values (n,).

    Returns:
        Values by the names of the metrics; empty if no target is known.
    """
    known = ~np.isnan(truth)
    if not known.any():
        return {}
    return {
        name: metric.compute(truth[known], predicted[known])
        for name, metric in metrics_of(task).items()
    }


def scores(predictions: Mapping[Part, Prediction], table: Table, split: Split) -> dict[str, float]:
    """Every metric of the predictions of a fold, as `part_metric`."""
    values = {}
    for part, prediction in predictions.items():
        truth = table.truth[split.rows(part)]
        for name, value in score(table.task, truth, prediction.values).items():
            values[f"{part}_{name}"] = value
    return values
