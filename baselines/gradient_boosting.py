"""Gradient boosting of scikit-learn (paper Table 18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines import boosting
from baselines.declaration import Baseline, Fitted, Parameters, TrainingData, fit_estimator
from npt.interface import Resources


def fit(data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources) -> Fitted:
    """Fit the longest ensemble, whose stages are the shorter ones; the library uses one thread."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    booster = GradientBoostingRegressor if data.is_regression else GradientBoostingClassifier
    ensemble: Any = booster(**boosting.longest(configurations), random_state=seed)
    fit_estimator(ensemble, data)
    staged = ensemble.staged_predict if data.is_regression else ensemble.staged_predict_proba

    def predict(features: np.ndarray, wanted: Sequence[Parameters]) -> list[np.ndarray]:
        counts = [one.get("n_estimators", ensemble.n_estimators) for one in wanted]
        stages = enumerate(staged(features), 1)
        found = {rounds: values for rounds, values in stages if rounds in counts}
        return [found[rounds] for rounds in counts]

    return predict


BASELINE = Baseline(
    "gradient_boosting",
    "Gradient Boosting",
    fit,
    boosting.quick,
    boosting.paper,
    shared=boosting.rounds,
    sources=boosting.SOURCES,
)
