"""Fit one method on one fold, blind to the test targets, and score it."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npt.interface import Fit, Infeasible, Learner, Prediction, Trial
from npt.metrics import score
from npt.table import Split, Table


@dataclass(frozen=True)
class Evaluation:
    """The outcome of one run; `metrics` are named part_metric, `predictions` are by part.

    `status` is `ok`, or `failed` with a reason, when there are no metrics. `trials` are those of a search, a failed one's too.
    """

    status: str
    reason: str
    metrics: Mapping[str, float]
    fit: Fit | None
    predictions: Mapping[str, Prediction]
    fit_seconds: float
    predict_seconds: float
    peak_memory_mb: float
    peak_gpu_memory_mb: float | None = None
    trials: Sequence[Trial] = ()


def evaluate(learner: Learner, table: Table, split: Split, seed: int) -> Evaluation:
    """Train `learner` without the test targets, predict validation and test rows, and compute every metric.

    A learner that raises `Infeasible` gives a failed evaluation; any other error is raised.
    """
    forget_peak_memory()
    started, trials = time.perf_counter(), ()
    try:
        fit = learner.fit(table.blind(split.test), split, seed)
        fitted, trials = time.perf_counter(), fit.trials
        predictions = {
            part: learner.predict(getattr(split, part)) for part in ("validation", "test")
        }
    except (Infeasible, MemoryError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        took = time.perf_counter() - started
        tried = trials or getattr(error, "trials", ())
        return Evaluation(
            "failed", reason, {}, None, {}, took, 0.0, peak_memory_mb(), peak_gpu_memory_mb(), tried
        )
    predicted = time.perf_counter()
    metrics = {}
    for part, prediction in predictions.items():
        truth = table.truth[getattr(split, part)]
        _require_finite(prediction, part)
        for name, value in score(table.task, truth, prediction.values).items():
            metrics[f"{part}_{name}"] = value
    fit_seconds, predict_seconds = fitted - started + fit.earlier_seconds, predicted - fitted
    memory = peak_memory_mb(), peak_gpu_memory_mb()
    return Evaluation(
        "ok", "", metrics, fit, predictions, fit_seconds, predict_seconds, *memory, trials
    )


def forget_peak_memory() -> bool:
    """Begin a new measurement of peak memory. Whether the system can: elsewhere a peak is that of the whole process so far."""
    if torch := _torch_on_gpu():
        torch.cuda.reset_peak_memory_stats()
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_gpu_memory_mb() -> float | None:
    """Peak memory in MiB that PyTorch held on its GPU; None where it used none."""
    torch = _torch_on_gpu()
    return torch.cuda.max_memory_allocated() / 2**20 if torch else None


def _torch_on_gpu() -> Any:
    torch = sys.modules.get("torch")
    return torch if torch and torch.cuda.is_initialized() else None


def peak_memory_mb() -> float:
    """Peak resident memory in MiB of this process since `forget_peak_memory`."""
    status = Path("/proc/self/status")
    if status.exists():
        (peak,) = [
            line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")
        ]
        return int(peak) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)


def _require_finite(prediction: Prediction, part: str) -> None:
    if not np.isfinite(prediction.values).all():
        raise ArithmeticError(
            f"{np.sum(~np.isfinite(prediction.values))} of the {part} predictions are not finite"
        )
