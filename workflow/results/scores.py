"""Metrics of a row, computed from its predictions; a new metric needs no training."""

from __future__ import annotations

import numpy as np

from npt.data.store import Prepared
from npt.errors import UserError
from npt.interface import Prediction
from npt.metrics import scores
from npt.table import Part
from workflow.results.predictions import PARTS, Arrays


def fold_scores(prepared: Prepared, fold: int, arrays: Arrays) -> dict[str, float]:
    """Every metric of the task, as `validation_<metric>` and `test_<metric>`.

    Args:
        arrays: Predictions of a run, see `workflow.results.predictions.fold_arrays`.

    Raises:
        UserError: the fold has no predictions, or they are of other rows.
    """
    split = prepared.splits[fold]
    predictions: dict[Part, Prediction] = {}
    for part in PARTS:
        rows = arrays.get(f"fold_{fold}_{part}_rows")
        values = arrays.get(f"fold_{fold}_{part}")
        if rows is None or values is None:
            raise UserError(f"no {part} predictions of fold {fold}")
        if not np.array_equal(rows, split.rows(part)):
            raise UserError(f"the {part} predictions of fold {fold} are of other rows")
        predictions[part] = Prediction(values)
    return scores(predictions, prepared.table, split)
