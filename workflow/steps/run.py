"""Fit a method on the folds of a run: a row and predictions for each, and weights or trials."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from baselines.tuned import TunedBaseline
from npt.atomic import partial_of, replacing
from npt.interface import Infeasible, Resources, Savable, Trial
from npt.table import with_train_share
from workflow.planning import paths
from workflow.planning.kept import load
from workflow.results.fitting import FittedFold, fit_fold
from workflow.results.job import Job
from workflow.results.predictions import write_predictions
from workflow.results.row import Row
from workflow.results.row_file import write_rows
from workflow.results.search import SearchedFold, forget_search, search_fold
from workflow.results.trials import write_trials
from workflow.runtime import gpu_lock
from workflow.runtime.command import execute, limit_threads, parser

MINUTES = 10.0


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument("--run", required=True, help="stem of a run of the plan")
    options.add_argument("--threads", type=int, default=1, help="threads (default: %(default)s)")
    options.add_argument("--device", default="auto", help="auto, cpu or a torch device")
    options.add_argument(
        "--checkpoint-minutes",
        type=float,
        default=MINUTES,
        help="minutes between two checkpoints of a training or a search",
    )
    options.add_argument("--part", type=int, help="part of a search, for its outcomes alone")
    arguments = options.parse_args()
    limit_threads(arguments.threads)
    plan = load()
    job = Job.of(plan, arguments.run)
    parts = [Path(file) for file in plan.part_files(job.run)]
    device = arguments.device
    if job.method.saves_weights:
        device = gpu_lock.device(device)
    resources = Resources(
        threads=arguments.threads,
        device=device,
        checkpoint=Path(paths.run_checkpoint(job.run.stem)),
        checkpoint_minutes=arguments.checkpoint_minutes,
        metrics=Path(paths.run_metrics(job.run.stem)) if job.method.saves_weights else None,
        parts=tuple(parts),
    )
    if arguments.part is None:
        fit(job, resources)
    else:
        fit_part(job, resources, arguments.part, parts)


def fit(job: Job, resources: Resources) -> None:
    """Fit all folds of a run, and write its files."""
    rows: list[Row] = []
    arrays: dict[str, np.ndarray] = {}
    trials: dict[int, Sequence[Trial]] = {}
    for fold in job.run.folds:
        fitted = fit_or_search(job, fold, resources)
        rows.append(fitted.row)
        arrays |= fitted.arrays
        trials[fold] = fitted.trials
        if job.method.saves_weights:
            _save_weights(job.run.stem, fitted)
        row = fitted.row
        outcome = row.reason or f"validation loss {row.validation_loss:.5g}"
        print(f"{row.run_key} seed {row.seed} fold {fold}: {row.status}, {outcome}", flush=True)
    stem = job.run.stem
    write_predictions(Path(paths.run_predictions(stem)), arrays)
    if job.method.searches or job.run.trials:
        write_trials(Path(paths.run_trials(stem)), trials)
    write_rows(Path(paths.run_rows(stem)), rows)
    if job.run.trials:
        forget_search(job)
    if resources.checkpoint is not None:
        resources.checkpoint.unlink(missing_ok=True)
        partial_of(resources.checkpoint).unlink(missing_ok=True)


def fit_part(job: Job, resources: Resources, part: int, parts: Sequence[Path]) -> None:
    """Do a part of the searches of a run, and write their outcomes."""
    output = parts[part]
    partial = partial_of(output)
    its_own = replace(resources, checkpoint=partial, checkpoint_minutes=0.0, parts=())
    output.parent.mkdir(parents=True, exist_ok=True)
    partial.touch()
    for fold in job.run.folds:
        table, split = with_train_share(job.prepared.table, job.split(fold), job.run.train_share)
        if job.method.refusal(table.task, realisations=job.realisations):
            continue
        learner = cast(TunedBaseline, job.method.build(job.settings, its_own))
        seed = job.run.training_seed(fold)
        try:
            learner.fit_part(table.blind(split.test), split, seed, part, len(parts))
        except Infeasible as error:  # the row of the run has it as its reason
            print(f"fold {fold}: {error}", flush=True)
    partial.replace(output)


def fit_or_search(job: Job, fold: int, resources: Resources) -> FittedFold | SearchedFold:
    """Fit the method to a fold, or the best of the configurations of a search."""
    if job.run.trials:
        return search_fold(job, fold, resources)
    return fit_fold(job, fold, resources)


def _save_weights(stem: str, fitted: FittedFold | SearchedFold) -> None:
    """Write the weights of a fold; an empty file if it failed, which Snakemake expects."""
    with replacing(Path(paths.run_weights(stem))) as partial:
        if isinstance(fitted, SearchedFold):
            if fitted.weights is not None:
                shutil.copyfile(fitted.weights, partial)
        elif fitted.learner is not None:
            cast(Savable, fitted.learner).save(partial)


if __name__ == "__main__":
    execute(main)
