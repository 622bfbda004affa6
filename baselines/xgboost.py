"""XGBoost (paper Table 19); features in float32, as in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from baselines import boosting
from baselines.declaration import Baseline, Fitted, Parameters, TrainingData, build, fit_estimator
from npt.interface import Resources, UserError


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Fit the longest ensemble; shorter ones are its first rounds.

    Raises:
        UserError: a GPU is asked for, which the installed build would leave alone with a warning.
    """
    from xgboost import XGBClassifier, XGBRegressor, build_info

    if resources.device != "cpu" and not build_info()["USE_CUDA"]:
        raise UserError(
            f"device: {resources.device} is not for xgboost-cpu; install xgboost in its place"
        )
    booster = XGBRegressor if data.is_regression else XGBClassifier
    data = replace(data, features=data.features.astype(np.float32))
    fixed: dict[str, Any] = {
        "n_jobs": resources.threads,
        "device": resources.device,
        "random_state": seed,
    }
    if data.categorical:
        fixed |= {"enable_categorical": True, "feature_types": _feature_types(data)}
    predict = fit_estimator(build(booster, boosting.longest(configurations), **fixed), data)

    def first_rounds(features: np.ndarray, wanted: Sequence[Parameters]) -> list[np.ndarray]:
        features = features.astype(np.float32)
        return [
            predict(features, iteration_range=(0, one.get("n_estimators", 0))) for one in wanted
        ]

    return first_rounds


def _feature_types(data: TrainingData) -> list[str]:
    return ["c" if place in data.categorical else "q" for place in range(data.features.shape[1])]


BASELINE = Baseline(
    "xgboost",
    "XGBoost",
    fit,
    boosting.quick,
    boosting.paper,
    shared=boosting.rounds,
    native=True,
    takes_missing=True,
    accelerated=True,
    sources=boosting.SOURCES,
)
