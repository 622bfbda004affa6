"""Random forest of scikit-learn (paper Table 17). `auto` of 2021 is `sqrt` for classification and all features otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.declaration import (
    Baseline,
    Fitted,
    Grid,
    Parameters,
    Size,
    TrainingData,
    build,
    fit_estimator,
    prediction_function,
)
from npt.interface import Resources
from npt.table import Task

# Parameters under which the first m trees of a forest are the forest of m trees with the same seed.
INDEPENDENT_OF_TREES = {
    "criterion",
    "max_features",
    "n_estimators",
    "max_depth",
    "min_samples_leaf",
    "min_samples_split",
}
TREES = 100  # the library's default


def paper(task: Task, size: Size) -> Grid:
    """24 configurations."""
    criteria = ["absolute_error", "squared_error"] if task == "regression" else ["gini", "entropy"]
    auto = 1.0 if task == "regression" else "sqrt"
    features = [auto, "sqrt", "log2"]
    return {"criterion": criteria, "n_estimators": [50, 100, 500, 1000], "max_features": features}


def quick(task: Task) -> Grid:
    """Without absolute error, which is slow."""
    if task == "regression":
        return {
            "criterion": ["squared_error"],
            "n_estimators": [100],
            "max_features": [1.0, "sqrt"],
        }
    return {"criterion": ["gini", "entropy"], "n_estimators": [100], "max_features": ["sqrt"]}


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Fit the largest forest; smaller ones are its first trees, added up in order so that threads change nothing."""
    from joblib import Parallel, delayed
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    largest = max(configurations, key=lambda one: one.get("n_estimators", TREES))
    kind = RandomForestRegressor if data.is_regression else RandomForestClassifier
    forest = build(kind, largest, random_state=seed, n_jobs=resources.threads)
    fit_estimator(forest, data)
    votes = [prediction_function(tree, data) for tree in forest.estimators_]

    def first_trees(features: np.ndarray, wanted: Sequence[Parameters]) -> list[np.ndarray]:
        counts = [one.get("n_estimators", TREES) for one in wanted]
        features = features.astype(np.float32)
        jobs = Parallel(resources.threads, prefer="threads", return_as="generator")
        each: Any = jobs(
            delayed(vote)(features, check_input=False) for vote in votes[: max(counts)]
        )
        total, found = np.zeros(1), {}
        for number, values in enumerate(each, 1):
            total = total + values
            if number in counts:
                found[number] = total / number
        return [found[number] for number in counts]

    return first_trees


def shared(parameters: Parameters) -> tuple[str, ...]:
    """The number of trees, where nothing else depends on it."""
    return ("n_estimators",) if set(parameters) <= INDEPENDENT_OF_TREES else ()


def model(parameters: Parameters, data: TrainingData) -> Parameters:
    """With the features of a split as a number: `sqrt` and `log2` of 22 features are both 4."""
    features, wanted = data.features.shape[1], parameters.get("max_features")
    numbers = {"sqrt": int(math.sqrt(features)), "log2": int(math.log2(features)), 1.0: features}
    known = isinstance(wanted, str | float) and wanted in numbers
    return {**parameters, "max_features": max(1, numbers[wanted])} if known else parameters


BASELINE = Baseline("random_forest", "Random Forest", fit, quick, paper, shared=shared, model=model)
