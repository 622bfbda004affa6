"""Intervals of solved NPT on public regressions on which no default was chosen.

Train and validation rows of the first fold are fitted, all or a few, and its test rows are
predicted; values of few rows are means over draws of these. CRPS
(Gneiting and Raftery 2007) is twice the mean pinball loss over 19 levels, in units of that of the
fitted targets' quantiles, which know nothing of a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from npt.data.frames import features_of
from npt.data.public import public_tables
from npt.estimator import NPTRegressor
from performance.machine import parser, prepared, report, start

LEVELS = np.arange(0.05, 0.96, 0.05)
FEW = (20, 30, 50, 100)  # fitted rows
DRAWS = 5


def main() -> None:
    """Command line of the benchmark."""
    arguments = start(parser(__doc__))
    rows = []
    for dataset in public_tables().values():
        if dataset.task == "regression" and not dataset.tuned_on:
            rows += measured(dataset.name, arguments.threads)
    report(arguments, rows)
    frame = pd.DataFrame(rows).drop(columns="table")
    print(frame.groupby("fitted", sort=False).mean())


def first_fold(name: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    """Features and targets of a dataset, and the numbers of rows to fit and of test rows."""
    data = prepared(name)
    split = data.splits[0]
    fitted = np.concatenate([split.train, split.validation])
    return features_of(data.table), data.table.truth, fitted, split.test


def measured(name: str, threads: int) -> Iterator[dict[str, Any]]:
    """Shares of test targets in their intervals, and CRPS, of one table."""
    features, target, known, test = first_fold(name)
    truth = target[test]
    generator = np.random.default_rng(0)
    for fitted in ("all", *FEW):
        scores = []
        for _ in range(1 if fitted == "all" else DRAWS):
            rows = known if fitted == "all" else generator.choice(known, fitted, replace=False)
            model = NPTRegressor(architecture="solved", n_jobs=threads)
            model.fit(features.iloc[rows], target[rows])
            quantiles = model.predict_quantiles(features.iloc[test], LEVELS)
            marginal = np.quantile(target[rows], LEVELS)[None]
            score = {
                "90 %": coverage(truth, quantiles, 0),
                "80 %": coverage(truth, quantiles, 1),
                "CRPS over marginal": crps(truth, quantiles) / crps(truth, marginal),
            }
            scores.append(score)
        means = pd.DataFrame(scores).mean()
        yield {"table": name, "fitted": fitted, "rows": len(rows), **means}


def coverage(truth: np.ndarray, quantiles: np.ndarray, index: int) -> float:
    """Share of targets (n,) from a quantile (n, 19), by its index, to the opposite one."""
    lower, upper = quantiles[:, index], quantiles[:, -1 - index]
    return float(((lower <= truth) & (truth <= upper)).mean())


def crps(truth: np.ndarray, quantiles: np.ndarray) -> float:
    """From the quantiles (n, 19) of targets (n,)."""
    errors = truth[:, None] - quantiles
    return 2 * float(np.maximum(LEVELS * errors, (LEVELS - 1) * errors).mean())


if __name__ == "__main__":
    main()
