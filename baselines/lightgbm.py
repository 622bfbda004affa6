"""LightGBM (paper Table 21), with the library's defaults: at least 20 rows in a leaf, as in the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baselines import boosting
from baselines.search import Baseline, Fitted, TrainingData, fit_estimator
from npt.interface import Resources


def fit(data: TrainingData, parameters: Mapping[str, Any], seed: int, resources: Resources) -> Fitted:
    """Fit one ensemble."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    booster = LGBMRegressor if data.is_regression else LGBMClassifier
    threads = {"n_jobs": resources.threads, "deterministic": True, "force_row_wise": True}
    return fit_estimator(booster(**parameters, **threads, random_state=seed, verbosity=-1), data)


BASELINE = Baseline("lightgbm", "LightGBM", fit, boosting.quick, boosting.paper)
