"""Ask a trained model a question. A row for each fold, and the predictions."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from baselines import methods
from npt.datasets import store
from npt.interface import Savable, Split, Table
from npt.metrics import score
from workflow.steps.command import execute, run_parser
from workflow.steps.rows import folds, write_predictions, write_rows

Answer = tuple[dict[str, Any], dict[str, np.ndarray]]  # what enters the row, and arrays by name
NEIGHBOURS = range(1, 11)
SWEPT_ROWS = 20


def main() -> None:
    """Command line of the step."""
    options = run_parser(__doc__)
    options.add_argument("--probe", choices=PROBES, required=True)
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
        learner, seed, test = cast(Savable, fold.learner), fold.seed, fold.split.test
        probed = test if given.cap == "all" else _drawn(test, int(given.cap), seed)
        learner.load(given.weights, prepared.table.blind(fold.split.test), fold.split, seed)
        started = time.perf_counter()
        found, predictions = PROBES[given.probe](learner, prepared.table, fold.split, probed, seed)
        row |= {"rows": len(probed), "predict_seconds": round(time.perf_counter() - started, 3), **found}
        arrays |= {f"fold_{seed}_{name}": values for name, values in predictions.items()}
        arrays[f"fold_{seed}_rows"] = probed
        rows.append(row)
        print({key: value for key, value in row.items() if key not in ("versions", "sweep")}, flush=True)
    write_predictions(given.predictions, arrays)
    write_rows(given.rows, rows)


def corruption(learner: Any, table: Table, split: Split, rows: np.ndarray, seed: int) -> Answer:
    """Predictions with the other rows intact, and with every one of their columns permuted."""
    from npt.probes.corruption import corrupted_predictions

    clean = corrupted_predictions(learner, rows, seed=seed, shuffle=False).values
    corrupted = corrupted_predictions(learner, rows, seed=seed).values
    found = {}
    for name, predicted in (("clean", clean), ("corrupted", corrupted)):
        metrics = score(table.task, table.truth[rows], predicted)
        found |= {f"{name}_{metric}": value for metric, value in metrics.items()}
    return found, {"clean": clean, "corrupted": corrupted}


def lookup(learner: Any, table: Table, split: Split, rows: np.ndarray, seed: int) -> Answer:
    """Predictions beside the duplicates, without them, by neighbours, and while duplicates' targets are swept."""
    from npt.probes.lookup import by_neighbours, intervened, looked_up

    rows = rows[~np.isnan(table.truth[rows])]
    truth = table.truth[rows]
    predicted = looked_up(learner, table, split, rows)
    alone = looked_up(learner, table, split, rows, duplicates=False)
    neighbours = [_rmse(one, truth) for one in by_neighbours(learner, table, rows, NEIGHBOURS, seed)]
    best = int(np.argmin(neighbours))
    swept = _drawn(rows, SWEPT_ROWS, seed)
    sweep = intervened(learner, table, split, swept)
    slopes = [np.polyfit(sweep.values, line, 1)[0] for line in sweep.predicted]
    pooled = np.corrcoef(np.tile(sweep.values, len(swept)), sweep.predicted.ravel())[0, 1]
    found = {
        "lookup": learner.settings.lookup,
        "rmse": _rmse(predicted, truth),
        "correlation": float(np.corrcoef(predicted, truth)[0, 1]),
        "alone_rmse": _rmse(alone, truth),
        "nearest_rmse": neighbours[0],
        "neighbours_rmse": neighbours[best],
        "neighbours": NEIGHBOURS[best],
        "constant_rmse": _rmse(np.full(len(truth), learner.known.centre[table.target]), truth),
        "intervention_correlation": float(pooled),
        "intervention_slope": float(np.mean(slopes)),
        "intervention_others": float(np.median(sweep.others)),
        "sweep": {"values": sweep.values.tolist(), "predicted": sweep.predicted.tolist()},
    }
    return found, {"looked_up": predicted, "alone": alone, "sweep_rows": swept, "sweep": sweep.predicted}


PROBES: dict[str, Callable[[Any, Table, Split, np.ndarray, int], Answer]] = {"corruption": corruption, "lookup": lookup}


def _rmse(predicted: np.ndarray, truth: np.ndarray) -> float:
    return score("regression", truth, predicted)["rmse"]


def _drawn(rows: np.ndarray, most: int, seed: int) -> np.ndarray:
    """At most so many of the rows, in order."""
    return rows if most >= len(rows) else np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


if __name__ == "__main__":
    execute(main)
