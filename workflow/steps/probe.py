"""Ask a trained model a question: corruption of all other rows, for now. A row for each fold, and the predictions."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

import numpy as np

from baselines import methods
from npt.datasets import store
from npt.interface import Savable, Split
from npt.metrics import score
from workflow.steps.command import execute, run_parser
from workflow.steps.rows import folds, write_predictions, write_rows


def main() -> None:
    """Command line of the step."""
    options = run_parser(__doc__)
    options.add_argument("--probe", choices=["corruption"], required=True)
    options.add_argument("--weights", type=Path, required=True)
    options.add_argument("--cap", default="all", help="probe at most so many test rows of a fold, drawn by seed")
    given = options.parse_args()
    method, prepared = methods()[given.method], store.load(given.data)
    rows: list[dict[str, Any]] = []
    arrays: dict[str, np.ndarray] = {}
    for fold in folds(given, method, prepared):
        row = {**fold.identity, "status": "ok", "reason": ""}
        if given.weights.stat().st_size == 0:
            rows.append({**row, "status": "failed", "reason": "there are no weights, as training failed"})
            continue
        learner, seed, probed = cast(Savable, fold.learner), fold.seed, _probed_rows(fold.split, fold.seed, given.cap)
        learner.load(given.weights, prepared.table.blind(fold.split.test), fold.split, seed)
        started = time.perf_counter()
        clean, corrupted = _ask(learner, probed, seed)
        row |= {"rows": len(probed), "predict_seconds": round(time.perf_counter() - started, 3)}
        for name, predicted in (("clean", clean), ("corrupted", corrupted)):
            arrays[f"fold_{seed}_{name}"] = predicted
            metrics = score(prepared.table.task, prepared.table.truth[probed], predicted)
            row |= {f"{name}_{metric}": value for metric, value in metrics.items()}
        arrays[f"fold_{seed}_rows"] = probed
        rows.append(row)
        print({key: value for key, value in row.items() if key != "versions"}, flush=True)
    write_predictions(given.predictions, arrays)
    write_rows(given.rows, rows)


def _ask(learner: Any, rows: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictions with the other rows intact, and with every one of their columns permuted."""
    from npt.probes.corruption import corrupted_predictions

    clean = corrupted_predictions(learner, rows, seed=seed, shuffle=False)
    return clean.values, corrupted_predictions(learner, rows, seed=seed).values


def _probed_rows(split: Split, seed: int, cap: str) -> np.ndarray:
    if cap == "all" or int(cap) >= len(split.test):
        return split.test
    return np.sort(np.random.default_rng(seed).choice(split.test, int(cap), replace=False))


if __name__ == "__main__":
    execute(main)
