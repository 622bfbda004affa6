"""Intervals of solved NPT on public regressions on which no default was chosen.

Train and validation rows of a fold are fitted, and its test rows are predicted. CRPS (Gneiting and
Raftery 2007) is twice the mean pinball loss over 19 levels, in units of that of the fitted
targets' quantiles, which know nothing of a row.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import mean_pinball_loss

from npt.data.datasets import datasets
from npt.data.frames import features_of
from npt.data.preparation import prepare
from npt.data.public import public_tables
from npt.estimator import NPTRegressor
from performance.machine import parser, start, write

LEVELS = np.arange(0.05, 0.96, 0.05)
INTERVALS = {"90 %": (0, -1), "80 %": (1, -2), "50 %": (4, -5)}  # places of their ends in LEVELS


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    held_out = []
    for dataset in public_tables().values():
        if dataset.task == "regression" and not dataset.tuned_on:
            held_out.append(dataset.name)
    options.add_argument("--tables", nargs="+", choices=sorted(datasets()), default=held_out)
    options.add_argument("--fold", type=int, default=0)
    arguments = options.parse_args()
    start(arguments)
    rows = [measured(name, arguments.fold, arguments.threads) for name in arguments.tables]
    table = pd.DataFrame(rows).set_index("table")
    table.loc["mean"] = table.mean()
    print(table.to_markdown(floatfmt=("", ",.0f", *[".3f"] * (len(INTERVALS) + 1))))
    write(arguments, "intervals", rows)


def measured(name: str, fold: int, threads: int) -> dict[str, Any]:
    """Shares of test targets in their intervals, and CRPS, of one table."""
    with tempfile.TemporaryDirectory() as downloads:
        prepared = prepare(name, Path(downloads))
    split = prepared.splits[fold]
    fitted = np.concatenate([split.train, split.validation])
    features = features_of(prepared.table)
    target = prepared.table.truth
    model = NPTRegressor(architecture="solved", n_jobs=threads)
    model.fit(features.iloc[fitted], target[fitted])
    truth = target[split.test]
    quantiles = model.predict_quantiles(features.iloc[split.test], LEVELS)
    marginal = np.tile(np.quantile(target[fitted], LEVELS), (len(truth), 1))
    row: dict[str, Any] = {"table": name, "rows": len(fitted)}
    for title, (lower, upper) in INTERVALS.items():
        held = (quantiles[:, lower] <= truth) & (truth <= quantiles[:, upper])
        row[title] = float(held.mean())
    row["CRPS over marginal"] = crps(truth, quantiles) / crps(truth, marginal)
    return row


def crps(truth: np.ndarray, quantiles: np.ndarray) -> float:
    """From the quantiles (n, 19) of targets (n,)."""
    losses = []
    for level, predicted in zip(LEVELS, quantiles.T, strict=True):
        losses.append(mean_pinball_loss(truth, predicted, alpha=level))
    return 2 * float(np.mean(losses))


if __name__ == "__main__":
    main()
