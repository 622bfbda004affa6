"""The shared grid search beside scikit-learn's GridSearchCV over the same grid, rows and threads, in turn in one process.

GridSearchCV's winner is fitted again on the train rows, as the paper's protocol has it; the shared search holds its winner
already. MLP's grid is a part of the paper's, as the whole takes hours. TabNet and deep kernel learning are left out, as their
fits share nothing. Seconds are those of the processor, of all threads, so that other work on the machine counts little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from baselines import methods
from baselines.grids import BaselineSettings
from npt.data.preparation import prepare
from npt.interface import Fit, Resources
from npt.table import Split, Table
from performance.machine import begin, facts, parser, write
from performance.naive_search import naive_search, refit

METHODS = ("knn", "lightgbm", "xgboost", "gradient_boosting", "random_forest", "catboost", "mlp")
GRIDS: dict[str, dict[str, list[Any]]] = {
    "mlp": {
        "hidden_layer_sizes": [[25], [100, 100]],
        "alpha": [0, 0.1],
        "batch_size": [64],
        "learning_rate": ["constant", "invscaling", "adaptive"],
        "learning_rate_init": [1e-3, 1e-2, 0.1],
    }
}


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.set_defaults(device="cpu")
    options.add_argument("--datasets", nargs="+", default=("breast_cancer", "concrete"))
    options.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    options.add_argument(
        "--downloads",
        type=Path,
        default=Path("results/data/raw"),
        help="folder for downloaded files",
    )
    given = options.parse_args()
    device = begin(given)
    rows = []
    print(
        "dataset        method             configurations   fits   shared, s  GridSearchCV, s   ratio  difference  winner"
    )
    for dataset in given.datasets:
        prepared = prepare(dataset, given.downloads)
        split = prepared.splits[0]
        for method in given.methods:
            row = {
                "dataset": dataset,
                **compare(method, prepared.table.blind(split.test), split, given.threads),
            }
            rows.append(row)
            print(
                f"{dataset:14} {method:18} {row['configurations']:14,} {row['fits']:6,} {row['shared_seconds']:11.2f} "
                f"{row['naive_seconds']:16.2f} {row['ratio']:7.2f} {row['largest_difference']:11.0e}  "
                f"{'same' if row['same_winner'] else 'other'}",
                flush=True,
            )
    write(given.json, {"benchmark": "grid_search", **facts(device), "rows": rows})


def compare(method: str, table: Table, split: Split, threads: int) -> dict[str, Any]:
    """Both searches on one fold: seconds, numbers of fits, and how far their scores are apart."""
    grid: Any = GRIDS.get(method, "paper")
    learner: Any = methods()[method].build(BaselineSettings(grid=grid), Resources(threads))
    smallest = BaselineSettings(
        grid={name: values[:1] for name, values in next(iter(_grids(learner, table, split))).items()}
    )
    methods()[method].build(smallest, Resources(threads)).fit(table, split, 0)  # loads the library
    fits: list[Fit] = []
    shared = processor_seconds(lambda: fits.append(learner.fit(table, split, 0)))
    fit = fits[-1]
    searches: list[Any] = []

    def naive() -> None:
        searches.append(naive_search(learner, threads))
        refit(learner, searches[-1], threads)

    with threadpool_limits(threads):
        alone = processor_seconds(naive)
    losses = np.array([trial.validation_loss for trial in fit.trials])
    return {
        "method": method,
        "configurations": len(losses),
        "fits": fit.fits,
        "shared_seconds": shared,
        "naive_seconds": alone,
        "ratio": alone / shared,
        "largest_difference": float(
            np.max(np.abs(losses / -searches[0].cv_results_["mean_test_score"] - 1))
        ),
        "winner": dict(fit.chosen),
        "validation_loss": fit.validation_loss,
        "naive_winner": searches[0].best_params_,
        "naive_validation_loss": -searches[0].best_score_,
        "same_winner": dict(fit.chosen) == searches[0].best_params_,
    }


def processor_seconds(action: Callable[[], Any]) -> float:
    """What an action takes of the processor, in all threads of this process: the mean over a second, if it is shorter."""
    started, times = time.process_time(), 0
    while times == 0 or time.process_time() - started < 1:
        action()
        times += 1
    return (time.process_time() - started) / times


def _grids(learner: Any, table: Table, split: Split) -> list[Any]:
    return learner.baseline.grids(learner.settings, table.task, len(split.train))


if __name__ == "__main__":
    main()
