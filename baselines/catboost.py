"""CatBoost (paper Table 20) on one-hot features; its own handling of categories is not used, as in the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baselines import boosting
from baselines.search import Baseline, Fitted, TrainingData, fit_estimator
from npt.interface import Resources


def fit(data: TrainingData, parameters: Mapping[str, Any], seed: int, resources: Resources) -> Fitted:
    """Fit one ensemble, leaving no files behind."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    booster = CatBoostRegressor if data.is_regression else CatBoostClassifier
    fixed: dict[str, Any] = {"allow_writing_files": False, "verbose": False, "thread_count": resources.threads}
    return fit_estimator(booster(**parameters, **fixed, random_seed=seed), data)


BASELINE = Baseline("catboost", "CatBoost", fit, boosting.quick, boosting.paper)
