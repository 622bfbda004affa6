"""scikit-learn's GridSearchCV over a baseline's grid on one fold, as a user of the libraries would write it: the oracle.

It scores on the validation rows alone (PredefinedSplit), in float64: scikit-learn's own log loss would clip what XGBoost gives
in float32 at 1e-7.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from baselines.training_data import TrainingData
from baselines.tuned import TunedBaseline

SEED = 42


def naive_search(learner: TunedBaseline, threads: int = 1) -> GridSearchCV:
    """Every configuration of a learner's grid fitted and scored on its own, on the rows of the learner's last fit."""
    data, name = _data(learner), learner.baseline.name
    rows = np.concatenate([data.train, data.validation])
    grids: Any = learner.baseline.grids(learner.settings, data.task, len(data.train))
    folds = PredefinedSplit([-1] * len(data.train) + [0] * len(data.validation))
    one = estimator(name, data.is_regression, threads)
    search = GridSearchCV(one, grids, scoring=score, cv=folds, refit=False, error_score="raise")  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.fit(features(learner)[rows], data.target[rows])


def refit(learner: TunedBaseline, search: GridSearchCV, threads: int = 1) -> Any:
    """The winner fitted again on the train rows, as the paper's protocol has it."""
    data = _data(learner)
    winner = estimator(learner.baseline.name, data.is_regression, threads).set_params(
        **search.best_params_
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return winner.fit(features(learner)[data.train], data.target[data.train])


def features(learner: TunedBaseline) -> np.ndarray:
    """What the learner's library is given."""
    features = _data(learner).features
    return features.astype(np.float32) if learner.baseline.name == "xgboost" else features


def _data(learner: TunedBaseline) -> TrainingData:
    assert learner.trained is not None
    return learner.trained.data


def estimator(name: str, regression: bool, threads: int) -> Any:
    """A baseline's estimator with its fixed parameters."""
    if name == "xgboost":
        from xgboost import XGBClassifier, XGBRegressor

        return (XGBRegressor if regression else XGBClassifier)(random_state=SEED, n_jobs=threads)
    if name == "lightgbm":
        from lightgbm import LGBMClassifier, LGBMRegressor

        settings: dict[str, Any] = {
            "n_jobs": threads,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        return (LGBMRegressor if regression else LGBMClassifier)(random_state=SEED, **settings)
    if name == "catboost":
        from catboost import CatBoostClassifier, CatBoostRegressor

        settings = {"thread_count": threads, "allow_writing_files": False, "verbose": False}
        return (CatBoostRegressor if regression else CatBoostClassifier)(
            random_seed=SEED, **settings
        )
    if name == "knn":
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        return (KNeighborsRegressor if regression else KNeighborsClassifier)(n_jobs=threads)
    if name == "mlp":
        from sklearn.neural_network import MLPClassifier, MLPRegressor

        return (MLPRegressor if regression else MLPClassifier)(
            random_state=SEED, early_stopping=True
        )
    from sklearn import ensemble

    if name == "random_forest":
        forest = ensemble.RandomForestRegressor if regression else ensemble.RandomForestClassifier
        return forest(random_state=SEED, n_jobs=threads)
    return (
        ensemble.GradientBoostingRegressor if regression else ensemble.GradientBoostingClassifier
    )(random_state=SEED)


def score(fitted: Any, rows: np.ndarray, target: np.ndarray) -> float:
    """Negative squared error, or negative log loss."""
    if not hasattr(fitted, "predict_proba"):
        return -float(np.mean((np.asarray(fitted.predict(rows), np.float64) - target) ** 2))
    probabilities = np.asarray(fitted.predict_proba(rows), np.float64)
    labels = np.arange(probabilities.shape[1])
    return -float(
        log_loss(target, probabilities / probabilities.sum(1, keepdims=True), labels=labels)
    )
