"""CatBoost (paper Table 20) on one-hot features, as in the paper; `native_categories` gives it the categories as such.

It refuses features that are all constant; the prior is predicted there, as other boosting does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines import boosting
from baselines.declaration import (
    Baseline,
    Fitted,
    Parameters,
    TrainingData,
    build,
    prediction_function,
    prior,
    train_labels,
)
from npt.interface import Resources

COMBINING_ROUNDS = 200


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Fit the longest ensemble, leaving no files behind; shorter ones are its first rounds."""
    if not _vary(data.features[data.train].astype(np.float32)):
        return prior(data)
    from catboost import CatBoostClassifier, CatBoostRegressor, Pool

    booster = CatBoostRegressor if data.is_regression else CatBoostClassifier
    fixed: dict[str, Any] = {
        "allow_writing_files": False,
        "verbose": False,
        "thread_count": resources.threads,
    }
    fixed |= {"random_seed": seed, **_where(resources.device)}
    ensemble = build(booster, boosting.longest(configurations), **fixed)
    categorical = list(
        data.categorical
    )  # goes into the pool: a constructor with it cannot be cloned
    ensemble.fit(
        Pool(
            _typed(data.features[data.train], categorical),
            train_labels(data),
            cat_features=categorical,
        )
    )

    def first_rounds(features: np.ndarray, wanted: Sequence[Parameters]) -> list[np.ndarray]:
        predict = prediction_function(ensemble, data)
        rows = Pool(_typed(features, categorical), cat_features=categorical)
        return [
            predict(rows, ntree_end=one.get("n_estimators", 0), thread_count=resources.threads)
            for one in wanted
        ]

    return first_rounds


def _vary(features: np.ndarray) -> bool:
    """Whether some column has two values in CatBoost's float32, of which NaN is one."""
    first = features[:1]
    return not bool(((features == first) | (np.isnan(features) & np.isnan(first))).all())


def _typed(features: np.ndarray, categorical: list[int]) -> Any:
    """Features as CatBoost takes them: categories must be integers."""
    if not categorical:
        return features
    import pandas as pd

    return pd.DataFrame(features).astype(dict.fromkeys(categorical, int))


def _where(device: str) -> dict[str, Any]:
    """Where to compute; the kind of boosting is the CPU's, as a GPU's own choice depends on the number of rounds."""
    if device == "cpu":
        return {}
    return {
        "task_type": "GPU",
        "devices": device.partition(":")[2] or "0",
        "boosting_type": "Plain",
    }


def model(parameters: Parameters, data: TrainingData) -> Parameters:
    """With what CatBoost makes of the number of rounds: from 200 on it combines categories by default."""
    combines = parameters.get("n_estimators", 1000) >= COMBINING_ROUNDS
    return {**parameters, "combines categories": combines} if data.categorical else parameters


BASELINE = Baseline(
    "catboost",
    "CatBoost",
    fit,
    boosting.quick,
    boosting.paper,
    shared=boosting.rounds,
    model=model,
    native=True,
    takes_missing=True,
    slow=True,
    accelerated=True,
    sources=boosting.SOURCES,
)
