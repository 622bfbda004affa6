"""Fit one method on one fold, blind to the test targets, and score it."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from npt.interface import Fit, Infeasible, Learner, Prediction, Split, Table
from npt.metrics import score


@dataclass(frozen=True)
class Evaluation:
    """The outcome of one run; `metrics` are named part_metric, `predictions` are by part.

    `status` is `ok`, or `failed` with a reason, when there are no metrics.
    """

    status: str
    reason: str
    metrics: Mapping[str, float]
    fit: Fit | None
    predictions: Mapping[str, Prediction]
    fit_seconds: float
    predict_seconds: float
    peak_memory_mb: float


def evaluate(learner: Learner, table: Table, split: Split, seed: int) -> Evaluation:
    """Train `learner` without the test targets, predict validation and test rows, and compute every metric.

    A learner that raises `Infeasible` gives a failed evaluation; any other error is raised.
    """
    started = time.perf_counter()
    try:
        fit = learner.fit(table.blind(split.test), split, seed)
        fitted = time.perf_counter()
        predictions = {part: learner.predict(getattr(split, part)) for part in ("validation", "test")}
    except (Infeasible, MemoryError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return Evaluation("failed", reason, {}, None, {}, time.perf_counter() - started, 0.0, peak_memory_mb())
    predicted = time.perf_counter()
    metrics = {}
    for part, prediction in predictions.items():
        truth = table.truth[getattr(split, part)]
        _require_finite(prediction, part)
        for name, value in score(table.task, truth, prediction.values).items():
            metrics[f"{part}_{name}"] = value
    return Evaluation(
        "ok", "", metrics, fit, predictions, fitted - started + fit.earlier_seconds, predicted - fitted, peak_memory_mb()
    )


def peak_memory_mb() -> float:
    """Peak resident memory of this process in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)


def _require_finite(prediction: Prediction, part: str) -> None:
    if not np.isfinite(prediction.values).all():
        raise ArithmeticError(f"{np.sum(~np.isfinite(prediction.values))} of the {part} predictions are not finite")
