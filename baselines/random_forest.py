"""Random forest of scikit-learn (paper Table 17). `auto` of 2021 is `sqrt` for classification and all features otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baselines.search import Baseline, Fitted, Grid, Size, TrainingData, fit_estimator
from npt.interface import Resources, Task


def paper(task: Task, size: Size) -> Grid:
    """24 configurations."""
    criteria = ["absolute_error", "squared_error"] if task == "regression" else ["gini", "entropy"]
    auto = 1.0 if task == "regression" else "sqrt"
    features = [auto, "sqrt", "log2"]
    return {"criterion": criteria, "n_estimators": [50, 100, 500, 1000], "max_features": features}


def quick(task: Task) -> Grid:
    """Without absolute error, which is slow."""
    if task == "regression":
        return {"criterion": ["squared_error"], "n_estimators": [100], "max_features": [1.0, "sqrt"]}
    return {"criterion": ["gini", "entropy"], "n_estimators": [100], "max_features": ["sqrt"]}


def fit(data: TrainingData, parameters: Mapping[str, Any], seed: int, resources: Resources) -> Fitted:
    """Fit one forest."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestRegressor if data.is_regression else RandomForestClassifier
    return fit_estimator(forest(**parameters, random_state=seed, n_jobs=resources.threads), data)


BASELINE = Baseline("random_forest", "Random Forest", fit, quick, paper)
