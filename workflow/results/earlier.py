"""Folds that a run of the same configuration has computed already, with fewer or more folds.

Fast methods train several folds in a job, so that one more fold is another job with other files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from npt.interface import Trial, UserError
from workflow.planning import paths
from workflow.planning.external_runs import predictions_of
from workflow.results.fitting import FittedFold
from workflow.results.job import Job
from workflow.results.predictions import read_predictions
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
            found |= _folds_of(path, job)
        except (UserError, OSError):  # damaged files are of no use here
            continue
    return found


def _folds_of(path: Path, job: Job) -> dict[int, FittedFold]:
    rows = [row for row in read_rows(path) if _is_of(row, job)]
    if not rows:
        return {}
    arrays = read_predictions(predictions_of(path))
    trials: dict[int, list[Trial]] = {}
    if job.method.searches:
        trials = read_trials(path.with_name(path.name.removesuffix(paths.ROWS) + paths.TRIALS))
    folds = [_fold(row, arrays, trials.get(row.fold, [])) for row in rows]
    return {fold.row.fold: fold for fold in folds if fold.arrays}


def _is_of(row: Row, job: Job) -> bool:
    """Whether a row is what the job would compute."""
    if row.fold not in job.run.folds or row.status != "ok":
        return False
    identity = job.identity(row.fold)
    values = row.values()
    compared = [name for name in identity if name not in OF_THE_MOMENT]
    return all(values.get(name) == identity[name] for name in compared)


def _fold(row: Row, arrays: dict[str, np.ndarray], trials: Sequence[Trial]) -> FittedFold:
    own = dict(_arrays_of(row.fold, arrays))
    return FittedFold(row, own, tuple(trials), learner=None)


def _arrays_of(fold: int, arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    for name, array in arrays.items():
        if name.startswith(f"fold_{fold}_"):
            yield name, array
