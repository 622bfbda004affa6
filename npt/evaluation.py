"""Fit a method on one fold, blind to the test targets, and predict its validation and test rows."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from npt.errors import Infeasible
from npt.interface import Fit, Learner, Prediction, Trial
from npt.table import HELD_OUT, Part, Split, Table

MIB = 2**20


@dataclass(frozen=True)
class Evaluation:
    """Outcome of a method on one fold.

    Attributes:
        status: `ok`, or `failed` with a reason and without predictions.
        reason: Why it failed; empty if it did not.
        fit: Summary of the training.
        predictions: Predictions of the validation and the test rows, by part.
        fit_seconds: Training time, that before an interruption included.
        predict_seconds: Prediction time.
        peak_memory_mb: Peak resident memory in MiB.
        peak_gpu_memory_mb: Peak memory of PyTorch on its GPU in MiB; None without a GPU.
        trials: Configurations of a search, also of one that failed.
    """

    status: str
    reason: str = ""
    fit: Fit | None = None
    predictions: Mapping[Part, Prediction] = field(default_factory=dict)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    peak_memory_mb: float = 0.0
    peak_gpu_memory_mb: float | None = None
    trials: Sequence[Trial] = ()


def evaluate(learner: Learner, table: Table, split: Split, seed: int) -> Evaluation:
    """Train `learner` without the test targets, then predict the validation and the test rows.

    Raises:
        ArithmeticError: A prediction is not finite.
        Exception: Any error of the learner other than `Infeasible` and `MemoryError`, which
            give a failed evaluation.
    """
    reset_peak_memory()
    fit = None
    reason = ""
    trials: Sequence[Trial] = ()
    predictions: dict[Part, Prediction] = {}
    started = fitted = time.perf_counter()
    try:
        fit = learner.fit(table.blind(split.test), split, seed)
        trials = fit.trials
        fitted = time.perf_counter()
        for part in HELD_OUT:
            predictions[part] = learner.predict(split.rows(part))
    except (Infeasible, MemoryError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        trials = trials or getattr(error, "trials", ())
        fit = None
        predictions = {}
    ended = time.perf_counter()
    for part, prediction in predictions.items():
        infinite = ~np.isfinite(prediction.values)
        if infinite.any():
            raise ArithmeticError(f"{infinite.sum()} of the {part} predictions are not finite")
    return Evaluation(
        status="ok" if fit else "failed",
        reason=reason,
        fit=fit,
        predictions=predictions,
        fit_seconds=fitted - started + fit.earlier_seconds if fit else ended - started,
        predict_seconds=ended - fitted if fit else 0.0,
        peak_memory_mb=peak_memory_mb(),
        peak_gpu_memory_mb=peak_gpu_memory_mb(),
        trials=trials,
    )


def reset_peak_memory() -> bool:
    """Restart the measurement of peak memory.

    Returns:
        Whether the system supports it. Elsewhere a peak is that of the process since its start.
    """
    torch = _torch_on_gpu()
    if torch:
        for device in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(device)
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_gpu_memory_mb() -> float | None:
    """Peak memory in MiB of PyTorch on its GPU; None where it used none."""
    torch = _torch_on_gpu()
    if torch is None:
        return None
    devices = range(torch.cuda.device_count())
    return max(torch.cuda.max_memory_allocated(device) for device in devices) / MIB


def _torch_on_gpu() -> Any:
    torch = sys.modules.get("torch")
    return torch if torch and torch.cuda.is_initialized() else None


def peak_memory_mb() -> float:
    """Peak resident memory in MiB of this process since `reset_peak_memory`."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (MIB if sys.platform == "darwin" else 1024)
