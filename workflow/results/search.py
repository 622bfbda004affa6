"""A search in one job: every configuration is fitted to a fold, and the best one is kept.

The files of a finished configuration stay until the search ends, so that an interrupted search
resumes with the next one.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from npt.errors import UserError
from npt.interface import Resources, Trial
from workflow.planning import paths
from workflow.planning.run import Run
from workflow.results.fitting import FittedFold, fit_fold, write_weights
from workflow.results.job import Job
from workflow.results.predictions import read_predictions, write_predictions
from workflow.results.row import RECORDED_SETTINGS, Row
from workflow.results.row_file import read_rows, write_rows

CONFIGURATION = "configuration"  # key of the winner's name among the chosen hyper-parameters
# A run may resume another day, elsewhere; the best configuration has settings of its own.
NOT_COMPARED = ("date", "machine", *RECORDED_SETTINGS)


def search_fold(job: Job, fold: int, resources: Resources) -> FittedFold:
    """Fit all configurations of a run to a fold, and choose by the loss on validation rows.

    The row is the winner's, with the costs of all; failed configurations lose.
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
        "fit_seconds": round(sum(row.fit_seconds or 0.0 for row in rows), 3),
        "fits": sum(row.fits or 0 for row in rows),
        "configurations": len(rows),
        "failed_configurations": sum(row.status != "ok" for row in rows),
    }
    stem = paths.trial_of_run(run.stem, fold, winner.variant)
    return FittedFold(
        row=winner.changed(changes),
        arrays=read_predictions(Path(paths.run_predictions(stem))),
        trials=tuple(trials),
        save=partial(shutil.copyfile, paths.run_weights(stem)),
    )


def forget_search(run: Run) -> None:
    """Remove the files of the configurations."""
    stem = paths.trial_of_run(run.stem, run.folds[0], run.variant)
    shutil.rmtree(Path(paths.run_rows(stem)).parent, ignore_errors=True)


def finished_rows(job: Job, path: Path, folds: Sequence[int]) -> list[Row]:
    """Rows of a run in a file, if the same code made them for all folds; else none."""
    try:
        rows = read_rows(path)
    except (FileNotFoundError, UserError):
        return []
    if [row.fold for row in rows] != list(folds):
        return []
    for row in rows:
        identity = job.identity(row.fold)
        for name in NOT_COMPARED:
            identity.pop(name, None)
        if not identity.items() <= row.values().items():
            return []
    return rows


def _fitted(job: Job, fold: int, name: str, resources: Resources) -> Row:
    """The row of a configuration, which is fitted unless the same code did it before."""
    trial = job.trial(name)
    stem = paths.trial_of_run(job.run.stem, fold, name)
    path = Path(paths.run_rows(stem))
    finished = finished_rows(trial, path, [fold])
    if finished:
        return finished[0]
    metrics = Path(paths.run_metrics(f"{job.run.stem}.{name}"))
    fitted = fit_fold(trial, fold, replace(resources, metrics=metrics))
    write_predictions(Path(paths.run_predictions(stem)), fitted.arrays)
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
