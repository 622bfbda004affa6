"""Fit a method on one fold: a row, predictions and the trials of its search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from npt.evaluation import Evaluation, evaluate
from npt.interface import Fit, Learner, Resources, Trial
from npt.table import Split
from workflow.results.job import Job
from workflow.results.predictions import PARTS, fold_arrays
from workflow.results.row import Row


@dataclass(frozen=True)
class FittedFold:
    """A fitted fold.

    Attributes:
        arrays: Predictions by name; empty if there are none.
        learner: The fitted learner; None if the method refused the task or failed.
    """

    row: Row
    arrays: dict[str, np.ndarray]
    trials: tuple[Trial, ...]
    learner: Learner | None


def fit_fold(job: Job, fold: int, resources: Resources) -> FittedFold:
    """Train on a fold, blind to its test targets, and predict its validation and test rows."""
    split = job.split(fold)
    identity = {**job.identity(fold), **_sizes(split)}
    refusal = job.method.supports(job.prepared.table.task)
    if refusal:
        row = Row(**identity, status="skipped", reason=refusal)
        return FittedFold(row, {}, (), None)
    learner = job.method.build(job.settings, resources)
    seed = job.run.training_seed(fold)
    evaluation = evaluate(learner, job.prepared.table, split, seed)
    outcome = _outcome(evaluation)
    device = str(getattr(learner, "device", "cpu"))
    row = Row(**identity, **outcome, threads=resources.threads, device=device)
    arrays = fold_arrays(fold, split, evaluation.predictions)
    fitted = learner if evaluation.status == "ok" else None
    return FittedFold(row, arrays, tuple(evaluation.trials), fitted)


def _sizes(split: Split) -> dict[str, int]:
    sizes = {"train_rows": len(split.train)}
    for part in PARTS:
        sizes[f"{part}_rows"] = len(split.rows(part))
    return sizes


def _outcome(evaluation: Evaluation) -> dict[str, Any]:
    gpu_memory = evaluation.peak_gpu_memory_mb
    return {
        "status": evaluation.status,
        "reason": evaluation.reason,
        **_facts_of_fit(evaluation.fit),
        **_facts_of_search(evaluation),
        "fit_seconds": round(evaluation.fit_seconds, 3),
        "predict_seconds": round(evaluation.predict_seconds, 3),
        "peak_memory_mb": round(evaluation.peak_memory_mb, 1),
        "peak_gpu_memory_mb": None if gpu_memory is None else round(gpu_memory, 1),
    }


def _facts_of_fit(fit: Fit | None) -> dict[str, Any]:
    names = ("validation_loss", "chosen", "grid", "models", "fits", "parameters")
    if fit is None:
        return dict.fromkeys(names)
    facts = {name: getattr(fit, name) for name in names}
    facts["validation_loss"] = float(fit.validation_loss)
    facts["chosen"] = dict(fit.chosen)
    return facts


def _facts_of_search(evaluation: Evaluation) -> dict[str, int | None]:
    trials = evaluation.trials
    if not trials:
        return {"configurations": None, "failed_configurations": None}
    failures = [trial for trial in trials if trial.reason]
    return {"configurations": len(trials), "failed_configurations": len(failures)}
