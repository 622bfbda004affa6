"""Folds that a run of the same configuration has computed already, with fewer or more folds.

Fast methods train several folds in a job, so that one more fold is another job with other files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from npt.interface import Trial, UserError
from workflow.planning import paths
from workflow.planning.external_runs import predictions_of
from workflow.results.fitting import FittedFold
from workflow.results.job import Job
from workflow.results.predictions import Arrays, read_predictions
from workflow.results.row import Row
from workflow.results.row_file import read_rows
from workflow.results.trials import read_trials

OF_THE_MOMENT = ("machine", "date")  # parts of a row's identity that may differ


def earlier_folds(job: Job) -> dict[int, FittedFold]:
    """Folds of the job in files of other folds, with equal data, settings, code and versions."""
    own = Path(paths.run_rows(job.run.stem))
    found: dict[int, FittedFold] = {}
    for path in sorted(own.parent.glob(f"folds_*{paths.ROWS}")):
        if path == own:
            continue
        try:
            folds = _folds_of(path, job)
        except (UserError, OSError):  # damaged files are of no use here
            continue
        found |= folds
    return found


def _folds_of(path: Path, job: Job) -> dict[int, FittedFold]:
    rows = [row for row in read_rows(path) if _is_of(row, job)]
    if not rows:
        return {}
    stem = path.name.removesuffix(paths.ROWS)
    arrays = read_predictions(predictions_of(path))
    trials: dict[int, list[Trial]] = {}
    if job.method.searches:
        trials = read_trials(path.with_name(stem + paths.TRIALS))
    folds: dict[int, FittedFold] = {}
    for row in rows:
        own_arrays = _arrays_of(row.fold, arrays)
        if own_arrays:
            own_trials = tuple(trials.get(row.fold, ()))
            folds[row.fold] = FittedFold(row, own_arrays, own_trials, learner=None)
    return folds


def _is_of(row: Row, job: Job) -> bool:
    """Whether a row is what the job would compute."""
    if row.fold not in job.run.folds or row.status != "ok":
        return False
    values = row.values()
    for name, value in job.identity(row.fold).items():
        if name not in OF_THE_MOMENT and values.get(name) != value:
            return False
    return True


def _arrays_of(fold: int, arrays: Arrays) -> dict[str, np.ndarray]:
    own: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name.startswith(f"fold_{fold}_"):
            own[name] = array
    return own
