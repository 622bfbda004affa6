"""Gradient boosting of scikit-learn (paper Table 18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baselines import boosting
from baselines.search import Baseline, Fitted, TrainingData, fit_estimator
from npt.interface import Resources


def fit(data: TrainingData, parameters: Mapping[str, Any], seed: int, resources: Resources) -> Fitted:
    """Fit one ensemble; the library uses one thread."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    booster = GradientBoostingRegressor if data.is_regression else GradientBoostingClassifier
    return fit_estimator(booster(**parameters, random_state=seed), data)


BASELINE = Baseline("gradient_boosting", "Gradient Boosting", fit, boosting.quick, boosting.paper)
