"""Fit a method on the folds of a run: a row and predictions for each, and weights or trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npt.atomic import partial_of
from npt.interface import Resources, Trial
from workflow.planning import paths
from workflow.planning.kept import load
from workflow.results.fitting import (
    finished_rows,
    fit_fold,
    forget_search,
    search_fold,
    write_trials,
    write_weights,
)
from workflow.results.job import Job
from workflow.results.predictions import write_predictions
from workflow.results.row import Row, write_rows
from workflow.runtime import gpu_lock
from workflow.runtime.command import execute, limit_threads, lock_of, run_parser


def main() -> None:
    """Command line of the step."""
    options = run_parser(__doc__)
    options.add_argument(
        "--checkpoint-minutes",
        type=float,
        default=10.0,
        help="minutes between two checkpoints of a training or a search",
    )
    arguments = options.parse_args()
    limit_threads(arguments.threads)
    job = Job.from_plan(load(), arguments.run)
    run = job.run
    with lock_of(run.stem):  # the other process may finish this run
        complete = all(file.exists() for file in run.files)
        if complete and finished_rows(job, paths.run_rows(run.stem), run.folds):
            print(f"{run.stem}: complete already; remove its rows to fit it again")
            return
        checkpoint = paths.run_checkpoint(run.stem)
        resources = Resources(
            threads=arguments.threads,
            device=gpu_lock.device(arguments.device, job.method),
            checkpoint=checkpoint,
            checkpoint_minutes=arguments.checkpoint_minutes,
            metrics=paths.run_metrics(run.stem),
        )
        fit(job, resources)
        for path in (checkpoint, partial_of(checkpoint)):
            path.unlink(missing_ok=True)


def fit(job: Job, resources: Resources) -> None:
    """Fit all folds of a run, and write its files."""
    stem = job.run.stem
    rows: list[Row] = []
    arrays: dict[str, np.ndarray] = {}
    trials: dict[int, Sequence[Trial]] = {}
    fit_one = search_fold if job.run.trials else fit_fold
    for fold in job.run.folds:
        fitted = fit_one(job, fold, resources)
        row = fitted.row
        rows.append(row)
        arrays |= fitted.arrays
        trials[fold] = fitted.trials
        if job.method.saves_weights:
            write_weights(stem, fitted)
        outcome = row.reason or f"validation loss {row.validation_loss:.5g}"
        print(f"{row.run_key} seed {row.seed} fold {fold}: {row.status}, {outcome}", flush=True)
    write_predictions(paths.run_predictions(stem), arrays)
    if job.method.searches or job.run.trials:
        write_trials(paths.run_trials(stem), trials)
    write_rows(paths.run_rows(stem), rows)
    if job.run.trials:
        forget_search(job.run)


if __name__ == "__main__":
    execute(main)
