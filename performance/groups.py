"""Solved NPT for rows of new groups, tuned without one row at a time, or without its group.

Train and validation rows of every fold are fitted, and its test rows, which are of other groups,
predicted. Losses are the RMSE in units of the deviation of the fitted targets, or the NLL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from npt.data.datasets import datasets
from npt.data.frames import features_of
from npt.estimator import NPTClassifier, NPTRegressor
from npt.metrics import negative_log_likelihood
from performance.intervals import coverage
from performance.machine import parser, prepared, report, start

ENDS = [0.05, 0.95]


def main() -> None:
    """Command line of the benchmark."""
    arguments = start(parser(__doc__))
    rows = []
    for name, dataset in datasets().items():
        if dataset.groups:
            rows += measured(name, arguments.threads)
    report(arguments, rows)
    print(pd.DataFrame(rows).groupby(["table", "left out"]).mean())


def measured(name: str, threads: int) -> Iterator[dict[str, Any]]:
    """Loss on test rows, the leave-one-out loss, and the coverage of intervals, of one table."""
    data = prepared(name)
    table = data.table
    assert table.groups is not None
    features, target = features_of(table), table.truth
    for fold, split in data.splits.items():
        fitted = np.concatenate([split.train, split.validation])
        new, truth = features.iloc[split.test], target[split.test]
        for left_out, groups in (("row", None), ("group", table.groups[fitted])):
            facts = {"table": name, "fold": fold, "left out": left_out}
            known = (features.iloc[fitted], target[fitted])
            if table.task != "regression":
                classifier = NPTClassifier(architecture="solved", n_jobs=threads)
                classifier.fit(*known, groups=groups)
                loss = negative_log_likelihood(truth.astype(int), classifier.predict_proba(new))
                yield {**facts, "loss": loss, "expected": classifier.validation_loss_}
                continue
            model = NPTRegressor(architecture="solved", n_jobs=threads).fit(*known, groups=groups)
            error = np.sqrt(np.mean((model.predict(new) - truth) ** 2)) / target[fitted].std()
            yield {
                **facts,
                "loss": error,
                "expected": model.validation_loss_**0.5,
                "90 %": coverage(truth, model.predict_quantiles(new, ENDS), 0),
            }


if __name__ == "__main__":
    main()
