"""Fit a method on one fold: a row, predictions and the trials of its search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npt.atomic import replacing
from npt.evaluation import Evaluation, evaluate
from npt.interface import Resources, Trial
from npt.metrics import METRICS_VERSION, scores
from workflow.planning import paths
from workflow.results.job import Job, device_title
from workflow.results.predictions import fold_arrays
from workflow.results.row import Row, sizes


@dataclass(frozen=True)
class FittedFold:
    """A fitted fold.

    Attributes:
        arrays: Predictions by name; empty if there are none.
        save: Writes the weights to a file; None if there are none.
    """

    row: Row
    arrays: dict[str, np.ndarray]
    trials: tuple[Trial, ...]
    save: Callable[[Path], object] | None


def fit_fold(job: Job, fold: int, resources: Resources) -> FittedFold:
    """Train on a fold, blind to its test targets, and predict its validation and test rows."""
    table = job.prepared.table
    split = job.split(fold)
    train = job.run.train
    train_table, its_split = train.of_fold(table, split)
    identity = {**job.identity(fold), **sizes(its_split)}
    refusal = job.method.refusal(table.task, realisations=job.realisations)
    refusal = refusal or train.refusal(table, split)
    if refusal:
        row = Row(**identity, status="skipped", reason=refusal)
        return FittedFold(row, arrays={}, trials=(), save=None)
    learner: Any = job.method.build(job.settings, resources)
    evaluation = evaluate(learner, train_table, its_split, job.run.training_seed(fold))
    is_fitted = evaluation.status == "ok"
    device = device_title(learner.device) if is_fitted else None
    row = Row(**identity, **_outcome(evaluation), threads=resources.threads, device=device)
    if evaluation.predictions:
        metrics = scores(evaluation.predictions, table, split)
        row = row.changed({"metrics": METRICS_VERSION, **metrics})
    return FittedFold(
        row,
        arrays=fold_arrays(fold, split, evaluation.predictions),
        trials=tuple(evaluation.trials),
        save=learner.save if is_fitted and job.method.saves_weights else None,
    )


def write_weights(stem: str, fitted: FittedFold) -> None:
    """Write the weights of a fold; an empty file if it failed, which Snakemake expects."""
    with replacing(Path(paths.run_weights(stem))) as partial:
        if fitted.save is not None:
            fitted.save(partial)


def _outcome(evaluation: Evaluation) -> dict[str, Any]:
    """Columns of a fit, of its search and of its costs."""
    fit = evaluation.fit
    trials = evaluation.trials
    gpu_memory = evaluation.peak_gpu_memory_mb
    outcome: dict[str, Any] = {
        "status": evaluation.status,
        "reason": evaluation.reason,
        "fit_seconds": round(evaluation.fit_seconds, 3),
        "predict_seconds": round(evaluation.predict_seconds, 3),
        "peak_memory_mb": round(evaluation.peak_memory_mb, 1),
        "peak_gpu_memory_mb": None if gpu_memory is None else round(gpu_memory, 1),
        "validation_loss": None if fit is None else float(fit.validation_loss),
        "chosen": None if fit is None else dict(fit.chosen),
        "configurations": len(trials) or None,
        "failed_configurations": sum(bool(trial.reason) for trial in trials) if trials else None,
    }
    for name in ("grid", "models", "fits", "parameters"):
        outcome[name] = getattr(fit, name, None)
    return outcome
