"""A search in one job: every configuration is fitted to a fold, and the best one is kept.

The files of a finished configuration stay until the search ends, so that an interrupted search
resumes with the next one.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from npt.atomic import replacing
from npt.interface import Resources, Savable, Trial, UserError
from workflow.planning import paths
from workflow.results.best_trials import CONFIGURATION, best_row
from workflow.results.fitting import FittedFold, fit_fold
from workflow.results.job import Job
from workflow.results.predictions import read_predictions, write_predictions
from workflow.results.row import Row
from workflow.results.row_file import read_rows, write_rows


@dataclass(frozen=True)
class SearchedFold:
    """The best configuration on a fold.

    Attributes:
        arrays: Its predictions by name; empty if all configurations failed.
        trials: All configurations, in the order of the search.
        weights: File of its weights; None if there are none.
    """

    row: Row
    arrays: Mapping[str, np.ndarray]
    trials: tuple[Trial, ...]
    weights: Path | None


def search_fold(job: Job, fold: int, resources: Resources) -> SearchedFold:
    """Fit all configurations of a run to a fold, and choose by the loss on validation rows."""
    rows: list[Row] = []
    trials: list[Trial] = []
    for name in job.run.trials:
        row = _fitted(job, fold, name, resources)
        rows.append(row)
        trial = _trial(job, row, number=len(rows))
        trials.append(trial)
    changes = {name: job.run.changes_of(name) for name in job.run.trials}
    best = best_row(rows, changes)
    identity = {
        "variant": job.run.variant,
        "fingerprint": job.run.fingerprint,
    }
    assert best.chosen is not None
    stem = paths.trial_of_run(job.run.stem, fold, best.chosen[CONFIGURATION])
    weights = Path(paths.run_weights(stem))
    return SearchedFold(
        row=best.changed(identity),
        arrays=read_predictions(Path(paths.run_predictions(stem))),
        trials=tuple(trials),
        weights=weights if weights.exists() else None,
    )


def forget_search(job: Job) -> None:
    """Remove the files of the configurations."""
    for fold in job.run.folds:
        for name in job.run.trials:
            stem = paths.trial_of_run(job.run.stem, fold, name)
            folder = Path(paths.run_rows(stem)).parent
            shutil.rmtree(folder, ignore_errors=True)


def _fitted(job: Job, fold: int, name: str, resources: Resources) -> Row:
    """The row of a configuration, whose files are written unless they are there."""
    trial = job.trial(name)
    stem = paths.trial_of_run(job.run.stem, fold, name)
    path = Path(paths.run_rows(stem))
    finished = _finished(path, trial, fold)
    if finished is not None:
        return finished
    metrics = Path(paths.run_metrics(f"{job.run.stem}.{name}"))
    fitted = fit_fold(trial, fold, replace(resources, metrics=metrics))
    predictions = Path(paths.run_predictions(stem))
    write_predictions(predictions, fitted.arrays)
    if job.method.saves_weights:
        weights = Path(paths.run_weights(stem))
        _save(fitted, weights)
    write_rows(path, [fitted.row])  # comes last, as the others exist where it does
    return fitted.row


def _finished(path: Path, trial: Job, fold: int) -> Row | None:
    """The row of a configuration that was fitted before an interruption, by the same code."""
    try:
        (row,) = read_rows(path)
    except (FileNotFoundError, UserError, ValueError):
        return None
    identity = trial.identity(fold)
    if identity.items() <= row.values().items():
        return row
    return None


def _save(fitted: FittedFold, path: Path) -> None:
    if fitted.learner is None:
        path.unlink(missing_ok=True)
        return
    with replacing(path) as partial:
        cast(Savable, fitted.learner).save(partial)


def _trial(job: Job, row: Row, number: int) -> Trial:
    failed = row.status != "ok"
    loss = row.validation_loss
    changes = job.run.changes_of(row.variant)
    return Trial(
        parameters={CONFIGURATION: row.variant, **changes},
        validation_loss=float("nan") if loss is None else loss,
        reason=row.reason,
        fit=0 if failed else number,
        seconds=row.fit_seconds or 0.0,
    )
