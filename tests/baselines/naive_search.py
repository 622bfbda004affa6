"""scikit-learn's GridSearchCV over a baseline's grid on one fold: the oracle of the shared search.

It scores on the validation rows alone (PredefinedSplit), in float64. scikit-learn's own log loss
would clip the float32 probabilities of XGBoost at 1e-7.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from baselines.training_data import TrainingData
from baselines.tuned import TunedBaseline

SEED = 42


def naive_search(learner: TunedBaseline, threads: int = 1) -> GridSearchCV:
    """Fit and score every configuration of a grid on the rows of the learner's last fit."""
    data = _data(learner)
    baseline = learner.baseline
    rows = np.concatenate([data.train, data.validation])
    sizes = [len(data.train), len(data.validation)]
    test_fold = np.repeat([-1, 0], sizes)
    grids: Any = baseline.grids(learner.settings, data.task, len(data.train))
    scoring: Any = score
    on_error: Any = "raise"
    search = GridSearchCV(
        estimator(baseline.name, data.is_regression, threads),
        grids,
        scoring=scoring,
        cv=PredefinedSplit(test_fold),
        refit=False,
        error_score=on_error,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.fit(features(learner)[rows], data.target[rows])


def refit(
    learner: TunedBaseline,
    search: GridSearchCV,
    threads: int = 1,
) -> Any:
    """Fit the winner on the train rows, as in the paper's protocol."""
    data = _data(learner)
    winner = estimator(learner.baseline.name, data.is_regression, threads)
    winner.set_params(**search.best_params_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train_features = features(learner)[data.train]
        return winner.fit(train_features, data.target[data.train])


def features(learner: TunedBaseline) -> np.ndarray:
    """Features (N, F) as the learner's library receives them."""
    features = _data(learner).features
    if learner.baseline.name == "xgboost":
        return features.astype(np.float32)
    return features


def _data(learner: TunedBaseline) -> TrainingData:
    assert learner.trained is not None
    return learner.trained.data


def score(
    fitted: Any,
    features: np.ndarray,
    target: np.ndarray,
) -> float:
    """Negative squared error, or negative log loss."""
    if not hasattr(fitted, "predict_proba"):
        predictions = np.asarray(fitted.predict(features), np.float64)
        return -float(np.mean((predictions - target) ** 2))
    probabilities = np.asarray(fitted.predict_proba(features), np.float64)
    probabilities = probabilities / probabilities.sum(1, keepdims=True)
    labels = np.arange(probabilities.shape[1])
    return -float(log_loss(target, probabilities, labels=labels))


def estimator(
    name: str,
    regression: bool,
    threads: int,
) -> Any:
    """A baseline's estimator with its fixed parameters."""
    return ESTIMATORS[name](regression, threads)


def _xgboost(regression: bool, threads: int) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    model = XGBRegressor if regression else XGBClassifier
    return model(random_state=SEED, n_jobs=threads)


def _lightgbm(regression: bool, threads: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = LGBMRegressor if regression else LGBMClassifier
    return model(
        random_state=SEED,
        n_jobs=threads,
        deterministic=True,
        force_row_wise=True,
        verbosity=-1,
    )


def _catboost(regression: bool, threads: int) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    model = CatBoostRegressor if regression else CatBoostClassifier
    return model(
        random_seed=SEED,
        thread_count=threads,
        allow_writing_files=False,
        verbose=False,
    )


def _knn(regression: bool, threads: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    model = KNeighborsRegressor if regression else KNeighborsClassifier
    return model(n_jobs=threads)


def _mlp(regression: bool, threads: int) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    model = MLPRegressor if regression else MLPClassifier
    return model(random_state=SEED, early_stopping=True)


def _random_forest(regression: bool, threads: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    model = RandomForestRegressor if regression else RandomForestClassifier
    return model(random_state=SEED, n_jobs=threads)


def _gradient_boosting(regression: bool, threads: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    model = GradientBoostingRegressor if regression else GradientBoostingClassifier
    return model(random_state=SEED)


ESTIMATORS: dict[str, Callable[[bool, int], Any]] = {
    "knn": _knn,
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "gradient_boosting": _gradient_boosting,
    "random_forest": _random_forest,
    "catboost": _catboost,
    "mlp": _mlp,
}
