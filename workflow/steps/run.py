"""Train one method on a block of folds, predict, and score: a row for each fold, its predictions, and weights if it has any."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from baselines import methods
from npt.atomic import partial_of, replacing
from npt.data import store
from npt.evaluation import Evaluation, evaluate
from npt.interface import Resources, Savable, Trial
from npt.table import Split
from workflow.results.rows import folds, write_predictions, write_rows, write_scores
from workflow.runtime import gpu_lock
from workflow.runtime.command import CHIEF, PROCESSES, execute, run_parser


def main() -> None:
    """Command line of the step."""
    options = run_parser(__doc__)
    options.add_argument(
        "--weights", type=Path, help="where the weights go, for methods that keep them"
    )
    options.add_argument(
        "--scores",
        type=Path,
        help="where the scores of all configurations of a search go (.parquet)",
    )
    options.add_argument(
        "--checkpoint-minutes", type=float, default=10, help="how often a training writes its state"
    )
    given = options.parse_args()
    method, prepared = methods()[given.method], store.load(given.data)
    rows: list[dict[str, Any]] = []
    arrays: dict[str, np.ndarray] = {}
    trials: dict[int, Sequence[Trial]] = {}
    resources = _resources(given)
    for fold in folds(given, method, prepared, resources):
        reason = method.supports(prepared.table.task)
        result = (
            _refused(reason)
            if reason
            else evaluate(fold.learner, prepared.table, fold.split, fold.fold)
        )
        rows.append(
            {**fold.identity, **_sizes(fold.split), **_outcome(result, fold.learner, given.threads)}
        )
        trials[fold.fold] = result.trials
        arrays |= _arrays(result, fold.split, fold.fold)
        print(
            f"{given.dataset} {given.method} {given.variant} fold {fold.fold}: {result.status} {dict(result.metrics)}",
            flush=True,
        )
        if given.weights and CHIEF:
            with replacing(given.weights) as partial:
                if result.status == "ok":
                    cast(Savable, fold.learner).save(partial)
    if CHIEF:
        write_predictions(given.predictions, arrays)
        if given.scores:
            write_scores(given.scores, trials)
        write_rows(given.rows, rows)
        if resources.checkpoint:
            for path in (resources.checkpoint, partial_of(resources.checkpoint)):
                path.unlink(missing_ok=True)


def _resources(given: argparse.Namespace) -> Resources:
    """What a fit may use; one that keeps weights trains for long, and keeps its state and its metrics beside the rows."""
    if not given.weights:
        return Resources(given.threads, given.device)
    device = given.device if PROCESSES > 1 else gpu_lock.device(given.device)
    stem = given.rows.with_suffix("")
    state, metrics = (
        stem.with_name(f"{stem.name}.checkpoint"),
        stem.with_name(f"{stem.name}.metrics.csv"),
    )
    return Resources(given.threads, device, state, given.checkpoint_minutes, metrics)


def _refused(reason: str) -> Evaluation:
    return Evaluation("skipped", reason, {}, None, {}, 0.0, 0.0, 0.0)


def _sizes(split: Split) -> dict[str, int]:
    return {f"{part}_rows": len(getattr(split, part)) for part in ("train", "validation", "test")}


def _outcome(result: Evaluation, learner: Any, threads: int) -> dict[str, Any]:
    fit = result.fit
    return {
        "status": result.status,
        "reason": result.reason,
        "validation_loss": fit.validation_loss if fit else None,
        "chosen": dict(fit.chosen) if fit else None,
        "grid": fit.grid if fit else None,
        "configurations": len(result.trials) or None,
        "models": fit.models if fit else None,
        "failed_configurations": sum(bool(trial.reason) for trial in result.trials)
        if result.trials
        else None,
        "fits": fit.fits if fit else None,
        "parameters": fit.parameters if fit else None,
        **result.metrics,
        "fit_seconds": round(result.fit_seconds, 3),
        "predict_seconds": round(result.predict_seconds, 3),
        "peak_memory_mb": round(result.peak_memory_mb, 1),
        "peak_gpu_memory_mb": None
        if result.peak_gpu_memory_mb is None
        else round(result.peak_gpu_memory_mb, 1),
        "threads": threads,
        "device": str(getattr(learner, "device", "cpu")),
        "processes": PROCESSES,
    }


def _arrays(result: Evaluation, split: Split, fold: int) -> dict[str, np.ndarray]:
    arrays = {}
    for part, prediction in result.predictions.items():
        arrays[f"fold_{fold}_{part}_rows"] = getattr(split, part)
        arrays[f"fold_{fold}_{part}"] = prediction.values
    return arrays


if __name__ == "__main__":
    execute(main)
