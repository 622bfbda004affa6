"""Effects on each fold: of permuted rows, and of training without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.fields import BASE
from workflow.report.fold_tests import fold_test
from workflow.report.statistics import of_model, standard_error
from workflow.studies.benefit.information import Information
from workflow.studies.corruption.tables import with_changes
from workflow.studies.errors import effect, losses


def permuted_effects(base: pd.DataFrame, source: Information) -> pd.Series:
    """Effect on each fold (by number) of permuting a source, over the probed rows."""
    if source.permuted is None:
        return pd.Series(dtype=float)
    effects = with_changes(base, source.permuted).set_index("fold")["effect"]
    return _known(effects)


def twin_effects(folds: pd.DataFrame, model: Mapping[Any, Any], source: Information) -> pd.Series:
    """Effect on each fold (by number) of training without a source.

    Empty if there is no such twin, or one of its folds failed.
    """
    base, twin = _pair(folds, model, source)
    return _known(effect(losses(base, "test_"), losses(twin, "test_")))


def twin_log_ratio(folds: pd.DataFrame, model: Mapping[Any, Any], source: Information) -> float:
    """Logarithm of the twin's RMSE or NLL over the model's, a mean over folds; NaN without one."""
    base, twin = _pair(folds, model, source)
    logarithms = []
    for rows in (base, twin):
        values = losses(rows, "test_")
        if model["task"] != "regression":  # of the RMSE, the loss is a logarithm already
            values = values.where(values > 0).transform(np.log)
        logarithms.append(values)
    return effect(*logarithms).mean(skipna=False)


def _pair(
    folds: pd.DataFrame, model: Mapping[Any, Any], source: Information
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of the model and of its twin by fold; none if the twin is missing or a fold failed."""
    base = of_model(folds, {**model, "variant": BASE}).set_index("fold")
    twin = of_model(folds, {**model, "variant": source.twin}).set_index("fold")
    if {*base["status"], *twin["status"]} != {"ok"}:
        return base[:0], twin[:0]
    return base, twin


def _known(effects: pd.Series) -> pd.Series:
    """Effects; empty if a fold has none."""
    return pd.Series(dtype=float) if effects.isna().any() else effects


def summarised(name: str, effects: pd.Series, test_fraction: float) -> dict[str, Any]:
    """Mean effect, its standard error over folds, the folds that are worse, and the test.

    Args:
        test_fraction: Test rows over train rows of a fold.
    """
    test = fold_test(effects, test_fraction)
    return {
        name: test["difference"],
        f"{name}_error": standard_error(effects),
        f"{name}_worse": (effects > 0).sum(),
        f"{name}_low": test["low"],
        f"{name}_high": test["high"],
        f"{name}_p_value": test["p_value"],
    }
