"""XGBoost (paper Table 19); features in float32, as in the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from baselines import boosting
from baselines.search import Baseline, Fitted, TrainingData, fit_estimator
from npt.interface import Resources


def fit(data: TrainingData, parameters: Mapping[str, Any], seed: int, resources: Resources) -> Fitted:
    """Fit one ensemble."""
    from xgboost import XGBClassifier, XGBRegressor

    booster = XGBRegressor if data.is_regression else XGBClassifier
    data = replace(data, features=data.features.astype(np.float32))
    return fit_estimator(booster(**parameters, random_state=seed, n_jobs=resources.threads), data)


BASELINE = Baseline("xgboost", "XGBoost", fit, boosting.quick, boosting.paper)
