"""Metrics of a row, computed from its saved predictions; a new metric needs no training."""

from __future__ import annotations

import numpy as np

from npt.metrics import score
from npt.table import Table
from workflow.results.predictions import PARTS, Arrays


def fold_scores(table: Table, fold: int, arrays: Arrays) -> dict[str, float]:
    """Every metric of the task, as `validation_<metric>` and `test_<metric>`.

    Args:
        arrays: Predictions of a run, see `workflow.results.predictions.fold_arrays`.

    Raises:
        KeyError: the fold has no predictions.
    """
    truth = table.truth
    scores = {}
    for part in PARTS:
        rows = np.asarray(arrays[f"fold_{fold}_{part}_rows"])
        predictions = arrays[f"fold_{fold}_{part}"]
        for metric, value in score(table.task, truth[rows], predictions).items():
            scores[f"{part}_{metric}"] = value
    return scores
