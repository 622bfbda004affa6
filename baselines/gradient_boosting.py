"""Gradient boosting of scikit-learn (paper Table 18)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from baselines import boosting
from baselines.declaration import Baseline, Fitted, Parameters, TrainingData, build, fit_estimator
from npt.interface import Resources


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Fit the longest ensemble, whose stages are the shorter ones; the library uses one thread."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    booster = GradientBoostingRegressor if data.is_regression else GradientBoostingClassifier
    ensemble = build(booster, boosting.longest(configurations), random_state=seed)
    fit_estimator(ensemble, data)
    staged = ensemble.staged_predict if data.is_regression else ensemble.staged_predict_proba

    def predict(features: np.ndarray, wanted: Sequence[Parameters]) -> list[np.ndarray]:
        counts = [one.get("n_estimators", ensemble.n_estimators) for one in wanted]
        found, last = {}, np.empty(0)
        for rounds, last in enumerate(itertools.islice(staged(features), max(counts)), 1):
            if rounds in counts:
                found[rounds] = last
        return [found.get(rounds, last) for rounds in counts]  # one that stopped early has fewer

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
