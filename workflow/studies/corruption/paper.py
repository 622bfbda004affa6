"""The paper's changes under corruption, each with the model that it is of (paper Table 2)."""

from __future__ import annotations

import numpy as np

from workflow.report.published import paper_name, published, published_images, whole_methods
from workflow.report.statistics import ModelRows
from workflow.results.row import LINEAR


def published_change(model: ModelRows) -> float:
    """The paper's change of accuracy in points, or of RMSE in percent with its sign.

    NaN if it prints none for the model.
    """
    table = published()["table_2_corruption"]
    name = paper_name(model.dataset)
    variant = table["variant"].get(name)  # of NPT, that the paper probes
    is_of_images = name in published_images(LINEAR)["cells"]
    whole = whole_methods(model.encoder)
    variants = whole if variant is None or is_of_images else (variant,)
    if model.method != "npt" or model.variant not in variants:
        return np.nan
    changes = table["change_in_accuracy_points"]
    if model.task == "regression":
        changes = table["change_in_rmse_percent_of_rmse"]
    elif is_of_images and model.encoder == LINEAR:
        changes = published_images(LINEAR)["change_in_accuracy_points"]
    elif is_of_images and model.encoder != variant:
        return np.nan
    return float(changes.get(name, np.nan))
