"""Losses of a test metric on each fold: under permuted rows, and without them in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.fields import BASE
from workflow.report.fold_tests import FEWEST_FOLDS, corrected_test
from workflow.report.statistics import nearly_equal, of_model, standard_error
from workflow.studies.benefit.information import Information

ROUNDING = 1e-5  # relative difference of metrics that single precision may cause
UNTESTED = {
    "low": np.nan,
    "high": np.nan,
    "p_value": np.nan,
}


def permuted_losses(base: pd.DataFrame, source: Information, metric: str) -> pd.Series:
    """Loss on each fold (by number) when a source is permuted, over the probed rows."""
    if source.permuted is None:
        return pd.Series(dtype=float)
    return _losses(
        metric,
        intact=_column(base, f"clean_{metric}"),
        destroyed=_column(base, f"{source.permuted.name}_{metric}"),
    )


def twin_losses(
    folds: pd.DataFrame,
    model: Mapping[Any, Any],
    source: Information,
    metric: str,
) -> pd.Series:
    """Loss on each fold (by number) of the twin that was trained without a source.

    Empty if there is no such twin, or one of its folds failed.
    """
    base = of_model(folds, {**model, "variant": BASE})
    twin = of_model(folds, {**model, "variant": source.twin})
    statuses = {*base["status"], *twin["status"]}
    if statuses != {"ok"}:
        return pd.Series(dtype=float)
    column = f"test_{metric}"
    return _losses(
        metric,
        intact=_column(base, column),
        destroyed=_column(twin, column),
    )


def summarised(name: str, losses: pd.Series, test_fraction: float) -> dict[str, Any]:
    """Mean loss, its standard error over folds, and whether it differs from zero.

    `p_value` and the 95 % interval `low` to `high` are those of the corrected resampled t-test;
    NaN for fewer than three folds, and where all folds have the same loss.

    Args:
        test_fraction: Test rows over train rows of a fold.
    """
    tested: Mapping[str, float] = UNTESTED
    if len(losses) >= FEWEST_FOLDS and not nearly_equal(losses):
        tested = corrected_test(losses.to_numpy(), test_fraction)
    return {
        name: losses.mean(),
        f"{name}_error": standard_error(losses),
        f"{name}_low": tested["low"],
        f"{name}_high": tested["high"],
        f"{name}_p_value": tested["p_value"],
    }


def _losses(metric: str, intact: pd.Series, destroyed: pd.Series) -> pd.Series:
    """Positive where the metric is worse without the source; empty if a fold has no value."""
    difference = destroyed - intact
    if difference.isna().any():
        return pd.Series(dtype=float)
    if METRICS[metric].higher_is_better:
        difference = -difference
    is_rounding = difference.abs() <= ROUNDING * intact.abs()
    return difference.mask(is_rounding, 0.0)


def _column(rows: pd.DataFrame, name: str) -> pd.Series:
    """Values of a column by fold; NaN if a study does not have it."""
    if name not in rows:
        return pd.Series(np.nan, index=pd.Index(rows["fold"]))
    return rows.set_index("fold")[name].astype(float)
