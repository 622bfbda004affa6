"""The shared grid search compared with scikit-learn's GridSearchCV: same grid, rows and threads.

Both run in one process. The winner of GridSearchCV is fitted again on the train rows, as in the
paper's protocol; the shared search keeps its winner. The grid of the MLP is a part of the paper's,
which takes hours. TabNet and deep kernel learning are left out, because their fits share nothing.
Seconds are processor time of all threads, so that other work on the machine counts little.
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
from npt.interface import Resources
from npt.table import Split, Table
from performance.machine import parser, start, write
from performance.measured import with_winner
from performance.naive_search import ESTIMATORS, naive_search, refit
from performance.table_columns import GRID_SEARCH, print_row, print_titles

GRIDS: dict[str, dict[str, list[Any]]] = {
    "mlp": {
        "hidden_layer_sizes": [[25], [100, 100]],
        "alpha": [0, 0.1],
        "batch_size": [64],
        "learning_rate": ["constant", "invscaling", "adaptive"],
        "learning_rate_init": [1e-3, 1e-2, 0.1],
    }
}
DOWNLOADS = Path("results/data/raw")


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.set_defaults(device="cpu")
    options.add_argument("--datasets", nargs="+", default=("breast_cancer", "concrete"))
    options.add_argument("--methods", nargs="+", choices=ESTIMATORS, default=ESTIMATORS)
    options.add_argument(
        "--downloads", type=Path, default=DOWNLOADS, help="folder of downloaded files"
    )
    arguments = options.parse_args()
    start(arguments)
    rows = []
    print_titles(GRID_SEARCH)
    for dataset in arguments.datasets:
        prepared = prepare(dataset, arguments.downloads)
        split = prepared.splits[0]
        blind = prepared.table.blind(split.test)
        for method in arguments.methods:
            row = {"dataset": dataset} | compare(method, blind, split, arguments.threads)
            print_row(with_winner(row), GRID_SEARCH)
            rows.append(row)
    write(arguments, "grid_search", rows)


def compare(
    method: str,
    table: Table,
    split: Split,
    threads: int,
) -> dict[str, Any]:
    """Seconds, fits and winners of both searches on one fold, and the difference of losses."""
    learner = _learner(method, GRIDS.get(method, "paper"), threads)
    _load_library(method, learner, table, split, threads)
    fits = []
    searches = []

    def shared() -> None:
        fits.append(learner.fit(table, split, 0))

    def naive() -> None:
        searches.append(naive_search(learner, threads))
        refit(learner, searches[-1], threads)

    shared_seconds = processor_seconds(shared)
    with threadpool_limits(threads):
        naive_seconds = processor_seconds(naive)
    fit = fits[-1]
    search = searches[0]
    losses = np.array([trial.validation_loss for trial in fit.trials])
    naive_losses = -search.cv_results_["mean_test_score"]
    return {
        "method": method,
        "configurations": len(losses),
        "fits": fit.fits,
        "shared_seconds": shared_seconds,
        "naive_seconds": naive_seconds,
        "ratio": naive_seconds / shared_seconds,
        "largest_difference": float(np.abs(losses / naive_losses - 1).max()),
        "winner": dict(fit.chosen),
        "validation_loss": fit.validation_loss,
        "naive_winner": search.best_params_,
        "naive_validation_loss": -search.best_score_,
        "same_winner": dict(fit.chosen) == search.best_params_,
    }


def processor_seconds(action: Callable[[], Any]) -> float:
    """Processor time of an action in all threads; the mean of repetitions over a second."""
    started = time.process_time()
    elapsed = 0.0
    repetitions = 0
    while elapsed < 1:
        action()
        repetitions += 1
        elapsed = time.process_time() - started
    return elapsed / repetitions


def _learner(
    method: str,
    grid: Any,
    threads: int,
) -> Any:
    return methods()[method].build(BaselineSettings(grid=grid), Resources(threads))


def _load_library(
    method: str,
    learner: Any,
    table: Table,
    split: Split,
    threads: int,
) -> None:
    """Fit the first configuration, so that the time of an import is not measured."""
    grids = learner.baseline.grids(learner.settings, table.task, len(split.train))
    grid = next(iter(grids))
    first = {name: values[:1] for name, values in grid.items()}
    _learner(method, first, threads).fit(table, split, 0)


if __name__ == "__main__":
    main()
