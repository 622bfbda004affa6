"""The paper's changes under corruption, each with the model that it is of (paper Table 2)."""

from __future__ import annotations

import numpy as np

from workflow.report.published import WHOLE_METHODS, paper_name, published, published_images
from workflow.report.statistics import ModelRows
from workflow.results.row import LINEAR


def published_change(model: ModelRows) -> float:
    """The paper's change of accuracy in points, or of RMSE in percent with its sign.

    NaN if it prints none for the model. Table 2's CIFAR-10 is of a ResNet-18; section B.8 has that
    of linear patches too.
    """
    table = published()["table_2_corruption"]
    dataset = paper_name(model.dataset)
    variant = table["variant"].get(dataset)
    if dataset in published_images(LINEAR)["cells"]:
        changes = published_images(model.encoder).get("change_in_accuracy_points", {})
        variants = (*WHOLE_METHODS, variant)
    else:
        name = "accuracy_points"
        if model.task == "regression":
            name = "rmse_percent_of_rmse"
        changes = table[f"change_in_{name}"]
        variants = WHOLE_METHODS if variant is None else (variant,)
    if model.method != "npt" or model.variant not in variants:
        return np.nan
    return float(changes.get(dataset, np.nan))
