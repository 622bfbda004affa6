"""Fit a method, or a search of its configurations, on one fold: a row, predictions and trials."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.atomic import replacing
from npt.errors import UserError
from npt.evaluation import Evaluation, evaluate
from npt.interface import Resources, Trial
from npt.metrics import METRICS_VERSION, scores
from workflow.planning import paths
from workflow.planning.run import Run
from workflow.results.job import Job, device_title, planned_rows
from workflow.results.predictions import fold_arrays, read_predictions, write_predictions
from workflow.results.row import Row, sizes, write_rows

CONFIGURATION = "configuration"  # key of the winner's name among the chosen hyper-parameters


@dataclass(frozen=True)
class FittedFold:
    """A fitted fold.

    Attributes:
        arrays: Predictions by name; empty if there are none.
        save: Writes the weights to a file; None if there are none.
    """

    row: Row
    arrays: dict[str, np.ndarray]
    trials: Sequence[Trial]
    save: Callable[[Path], object] | None


def fit_fold(job: Job, fold: int, resources: Resources) -> FittedFold:
    """Train on a fold, blind to its test targets, and predict its validation and test rows."""
    table = job.prepared.table
    split = job.prepared.splits[fold]
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
        trials=evaluation.trials,
        save=learner.save if is_fitted and job.method.saves_weights else None,
    )


def write_weights(stem: str, fitted: FittedFold) -> None:
    """Write the weights of a fold; an empty file if it failed, which Snakemake expects."""
    with replacing(paths.run_weights(stem)) as partial:
        if fitted.save is not None:
            fitted.save(partial)


def write_trials(path: Path, trials: Mapping[int, Sequence[Trial]]) -> None:
    """Write one line per configuration, in the grid's order.

    Every tuned hyper-parameter has a column. Values that are not all numbers, all text or all
    truth values are written as JSON.

    Args:
        trials: By fold.
    """
    lines: list[dict[str, Any]] = []
    for fold, fold_trials in trials.items():
        for trial in fold_trials:
            lines.append({"fold": fold, **vars(trial), **trial.parameters})
    frame = pd.DataFrame(lines).drop(columns="parameters", errors="ignore")
    for name, values in frame.items():
        if values.dtype == object:  # text has a type of its own
            frame[name] = values.map(json.dumps, na_action="ignore")
    with replacing(path) as partial:
        frame.to_parquet(partial, engine="pyarrow", index=False, write_page_checksum=True)


def _outcome(evaluation: Evaluation) -> dict[str, Any]:
    """Columns of a fit, of its search and of its costs."""
    trials = evaluation.trials
    gpu_memory = evaluation.peak_gpu_memory_mb
    outcome: dict[str, Any] = {
        "status": evaluation.status,
        "reason": evaluation.reason,
        "fit_seconds": round(evaluation.fit_seconds, 3),
        "predict_seconds": round(evaluation.predict_seconds, 3),
        "peak_memory_mb": round(evaluation.peak_memory_mb, 1),
        "peak_gpu_memory_mb": None if gpu_memory is None else round(gpu_memory, 1),
        "configurations": len(trials) or None,
        "failed_configurations": sum(bool(trial.reason) for trial in trials) if trials else None,
    }
    for name in ("validation_loss", "chosen", "grid", "models", "fits", "parameters"):
        outcome[name] = getattr(evaluation.fit, name, None)
    return outcome


def search_fold(job: Job, fold: int, resources: Resources) -> FittedFold:
    """Fit all configurations of a run to a fold, and choose by the loss on validation rows.

    The row is the winner's, with the training time of all; failed configurations lose. Files of
    finished ones stay until the search ends, so that an interrupted search resumes with the next
    one.
    """
    run = job.run
    rows: list[Row] = []
    trials: list[Trial] = []
    for number, name in enumerate(run.trials, start=1):
        row = _fitted(job, fold, name, resources)
        rows.append(row)
        trial = Trial(
            parameters=_parameters(run, name),
            validation_loss=math.nan if row.validation_loss is None else row.validation_loss,
            reason=row.reason,
            fit=number if row.status == "ok" else 0,
            seconds=row.fit_seconds or 0.0,
        )
        trials.append(trial)
    winner = min(rows, key=_rank)
    changes = {
        "variant": run.variant,
        "fingerprint": run.fingerprint,
        "chosen": {**_parameters(run, winner.variant), **(winner.chosen or {})},
        "fit_seconds": round(sum(trial.seconds for trial in trials), 3),
        "fits": sum(row.fits or 0 for row in rows),
        "configurations": len(rows),
        "failed_configurations": sum(row.status != "ok" for row in rows),
    }
    stem = paths.trial_of_run(run.stem, fold, winner.variant)
    return FittedFold(
        row=winner.changed(changes),
        arrays=read_predictions(paths.run_predictions(stem)),
        trials=trials,
        save=partial(shutil.copyfile, paths.run_weights(stem)),
    )


def forget_search(run: Run) -> None:
    """Remove the files of the configurations."""
    stem = paths.trial_of_run(run.stem, run.folds[0], run.variant)
    shutil.rmtree(paths.run_rows(stem).parent, ignore_errors=True)


def finished_rows(job: Job, path: Path, folds: Sequence[int]) -> list[Row]:
    """Rows of a run in a file, if the same code made them for all folds; else none."""
    try:
        rows = list(planned_rows(job.run, folds, job.prepared, path))
        for row in rows:
            row.require(job.code, path)
    except (FileNotFoundError, UserError):
        return []
    return rows


def _fitted(job: Job, fold: int, name: str, resources: Resources) -> Row:
    """The row of a configuration, which is fitted unless the same code did it before."""
    trial = job.trial(name)
    stem = paths.trial_of_run(job.run.stem, fold, name)
    path = paths.run_rows(stem)
    finished = finished_rows(trial, path, [fold])
    if finished:
        return finished[0]
    metrics = paths.run_metrics(f"{job.run.stem}.{name}")
    fitted = fit_fold(trial, fold, replace(resources, metrics=metrics))
    write_predictions(paths.run_predictions(stem), fitted.arrays)
    write_weights(stem, fitted)
    write_rows(path, [fitted.row])  # comes last, as the others exist where it does
    return fitted.row


def _parameters(run: Run, name: str) -> dict[str, Any]:
    return {CONFIGURATION: name, **run.changes_of(name)}


def _rank(row: Row) -> tuple[bool, float]:
    """Success first, then a low validation loss; none is infinite."""
    loss = row.validation_loss
    if loss is None or math.isnan(loss):
        loss = math.inf
    return row.status != "ok", loss
