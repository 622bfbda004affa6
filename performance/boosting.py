"""Boosting libraries as they come, for comparisons with the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from npt.table import Split, Table

LIBRARIES = ("CatBoost", "LightGBM", "HistGradientBoosting")


def booster(library: str, *, regression: bool, threads: int = 1) -> Any:
    """An estimator of a library with its defaults.

    Args:
        threads: Of CatBoost and LightGBM; HistGradientBoosting takes those of OpenMP.
    """
    if library == "CatBoost":
        from catboost import CatBoostClassifier, CatBoostRegressor

        kind = CatBoostRegressor if regression else CatBoostClassifier
        return kind(
            verbose=0,
            thread_count=threads,
            allow_writing_files=False,
            random_seed=0,
        )
    if library == "LightGBM":
        from lightgbm import LGBMClassifier, LGBMRegressor

        kind = LGBMRegressor if regression else LGBMClassifier
        return kind(verbose=-1, n_jobs=threads, random_state=0)
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return kind(random_state=0)


def boosted(library: str, table: Table, split: Split) -> np.ndarray:
    """Predictions for the test rows after a fit to all others."""
    fitted = np.concatenate([split.train, split.validation])
    features = table.values[:, table.features]
    model = booster(library, regression=table.task == "regression")
    model.fit(features[fitted], table.truth[fitted])
    return predictions(model, features[split.test], table)


def predictions(model: Any, features: Any, table: Table) -> np.ndarray:
    """Numbers (n,), or probabilities (n, C) of all classes of a table, by a fitted estimator."""
    if table.task == "regression":
        return np.asarray(model.predict(features))
    classes = table.columns[table.target].size
    probabilities = np.zeros((len(features), classes))
    fitted = np.asarray(model.classes_, int)
    probabilities[:, fitted] = model.predict_proba(features)
    return probabilities
