"""scikit-learn's GridSearchCV over a baseline's grid on one fold: the oracle of the shared search.

It scores on the validation rows alone (PredefinedSplit), in float64. scikit-learn's own log loss
would clip the float32 probabilities of XGBoost at 1e-7.
"""

import warnings
from pkgutil import resolve_name
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from baselines.estimators import EstimatorBaseline
from baselines.tuned import TunedBaseline

SEED = 42
LIGHTGBM = {"deterministic": True, "force_row_wise": True, "verbosity": -1}
FIXED: dict[str, dict[str, Any]] = {
    "knn": {},
    "lightgbm": {"random_state": SEED, "n_jobs": 1, **LIGHTGBM},
    "xgboost": {"random_state": SEED, "n_jobs": 1},
    "gradient_boosting": {"random_state": SEED},
    "random_forest": {"random_state": SEED},
    "catboost": {"random_seed": SEED, "allow_writing_files": False, "verbose": False},
    "mlp": {"random_state": SEED, "early_stopping": True},
}


def naive_search(learner: TunedBaseline) -> GridSearchCV:
    """Fit and score every configuration of a grid on the rows of the learner's last fit."""
    assert learner.trained is not None
    data = learner.trained.data
    baseline = learner.baseline
    if isinstance(baseline, EstimatorBaseline):
        estimator = baseline.estimator(data.task)
    else:
        kind = "Regressor" if data.is_regression else "Classifier"
        estimator = resolve_name(f"sklearn.neighbors.KNeighbors{kind}")
    features = data.features
    if baseline.name == "xgboost":
        features = features.astype(np.float32)
    rows = np.concatenate([data.train, data.validation])
    grids: Any = baseline.grids(learner.settings, data.task, len(data.train))
    options: dict[str, Any] = {"scoring": score, "error_score": "raise", "refit": False}
    test_fold = np.repeat([-1, 0], [len(data.train), len(data.validation)])
    search = GridSearchCV(
        estimator(**FIXED[baseline.name]), grids, cv=PredefinedSplit(test_fold), **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.fit(features[rows], data.target[rows])


def score(fitted: Any, features: np.ndarray, target: np.ndarray) -> float:
    """Negative squared error, or negative log loss."""
    if not hasattr(fitted, "predict_proba"):
        predictions = np.asarray(fitted.predict(features), np.float64)
        return -float(np.mean((predictions - target) ** 2))
    probabilities = np.asarray(fitted.predict_proba(features), np.float64)
    probabilities = probabilities / probabilities.sum(1, keepdims=True)
    labels = np.arange(probabilities.shape[1])
    return -float(log_loss(target, probabilities, labels=labels))
