"""Intervals of solved NPT on public regressions on which no default was chosen.

Train and validation rows of the first fold are fitted, and its test rows are predicted. CRPS
(Gneiting and Raftery 2007) is twice the mean pinball loss over 19 levels, in units of that of the
fitted targets' quantiles, which know nothing of a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from npt.data.frames import features_of
from npt.data.public import public_tables
from npt.estimator import NPTRegressor
from performance.machine import parser, report, start
from performance.tables import prepared

LEVELS = np.arange(0.05, 0.96, 0.05)


def main() -> None:
    """Command line of the benchmark."""
    arguments = start(parser(__doc__))
    rows = []
    for dataset in public_tables().values():
        if dataset.task == "regression" and not dataset.tuned_on:
            rows.append(measured(dataset.name, arguments.threads))
    report(arguments, rows)
    print(pd.DataFrame(rows).mean(numeric_only=True))


def first_fold(name: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    """Features and targets of a dataset, and the numbers of rows to fit and of test rows."""
    data = prepared(name)
    split = data.splits[0]
    fitted = np.concatenate([split.train, split.validation])
    return features_of(data.table), data.table.truth, fitted, split.test


def measured(name: str, threads: int) -> dict[str, Any]:
    """Share of test targets in their 90 % intervals, and CRPS, of one table."""
    features, target, fitted, test = first_fold(name)
    model = NPTRegressor(architecture="solved", n_jobs=threads)
    model.fit(features.iloc[fitted], target[fitted])
    truth = target[test]
    quantiles = model.predict_quantiles(features.iloc[test], LEVELS)
    marginal = np.quantile(target[fitted], LEVELS)[None]
    is_inside = (quantiles[:, 0] <= truth) & (truth <= quantiles[:, -1])
    return {
        "table": name,
        "rows": len(fitted),
        "90 %": float(is_inside.mean()),
        "CRPS over marginal": crps(truth, quantiles) / crps(truth, marginal),
    }


def crps(truth: np.ndarray, quantiles: np.ndarray) -> float:
    """From the quantiles (n, 19) of targets (n,)."""
    errors = truth[:, None] - quantiles
    return 2 * float(np.maximum(LEVELS * errors, (LEVELS - 1) * errors).mean())


if __name__ == "__main__":
    main()
