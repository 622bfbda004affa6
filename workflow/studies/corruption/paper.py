"""The paper's changes under corruption, each with the model that it is of (paper Table 2)."""

from __future__ import annotations

import numpy as np

from workflow.report.published import WHOLE_METHODS, paper_name, published
from workflow.report.statistics import ModelRows


def published_change(model: ModelRows) -> float:
    """The paper's change of accuracy in points, or of RMSE in percent with its sign.

    NaN if it prints none for the model. On images it is that of linear patches (section B.8).
    """
    table = published()["table_2_corruption"]
    images = published()["appendix_b8_images"]["change_in_accuracy_points"]
    dataset = paper_name(model.dataset)
    variant = table["variant"].get(dataset)
    if dataset in images:
        variant = None
    variants = WHOLE_METHODS if variant is None else (variant,)
    if model.method != "npt" or model.variant not in variants:
        return np.nan
    if model.task == "regression":
        changes = table["change_in_rmse_percent_of_rmse"]
    else:
        changes = {**table["change_in_accuracy_points"], **images}
    return float(changes.get(dataset, np.nan))
