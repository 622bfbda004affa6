"""The paper's changes under corruption, each with the model that it is of (paper Table 2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workflow.report.published import paper_name, published, published_images, whole_methods
from workflow.report.statistics import ModelRows
from workflow.results.row import LINEAR


def published_change(model: ModelRows) -> float:
    """The paper's change of accuracy in points, or of RMSE in percent with its sign.

    NaN if it prints none for the model.
    """
    if model.method != "npt" or model.variant not in _variants(model):
        return np.nan
    change = _changes(model).get(paper_name(model.dataset), np.nan)
    return float(change)


def _variants(model: ModelRows) -> tuple[str, ...]:
    """Variants of NPT that the paper probes on a dataset."""
    variants = published()["table_2_corruption"]["variant"]
    variant = variants.get(paper_name(model.dataset))
    if variant is None or _is_of_images(model):
        return whole_methods(model.encoder)
    return (variant,)


def _changes(model: ModelRows) -> Mapping[str, float]:
    """The paper's changes by dataset: of images those of the model's encoder."""
    table = published()["table_2_corruption"]
    if model.task == "regression":
        return table["change_in_rmse_percent_of_rmse"]
    if _is_of_images(model):
        if model.encoder == LINEAR:
            return published_images(LINEAR)["change_in_accuracy_points"]
        if model.encoder != table["variant"].get(paper_name(model.dataset)):
            return {}
    return table["change_in_accuracy_points"]


def _is_of_images(model: ModelRows) -> bool:
    return paper_name(model.dataset) in published_images(LINEAR)["cells"]
