"""Gradient boosting of scikit-learn (paper Table 18)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from baselines.baseline import Predictor
from baselines.boosting import Boosting, longest
from baselines.estimators import build
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.table import Task


class GradientBoosting(Boosting):
    """Gradient boosting of scikit-learn, on one thread."""

    name = "gradient_boosting"
    title = "Gradient Boosting"
    libraries = ("scikit-learn",)

    def estimator(self, task: Task) -> type:
        """The library's class."""
        from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

        return GradientBoostingRegressor if task == "regression" else GradientBoostingClassifier

    def fit(
        self,
        data: TrainingData,
        configurations: Sequence[Parameters],
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit the longest ensemble, whose stages are the shorter ones."""
        booster = self.estimator(data.task)
        ensemble = build(booster, longest(configurations), random_state=seed)
        ensemble.fit(data.train_features, data.train_labels)
        stages = ensemble.staged_predict if data.is_regression else ensemble.staged_predict_proba

        def predict_stages(
            features: np.ndarray, configurations: Sequence[Parameters]
        ) -> list[np.ndarray]:
            counts = [
                parameters.get("n_estimators", ensemble.n_estimators)
                for parameters in configurations
            ]
            last = np.empty(0)
            by_count = {}
            for count, last in enumerate(itertools.islice(stages(features), max(counts)), 1):
                if count in counts:
                    by_count[count] = last
            # An ensemble that stopped early has fewer stages: its last one serves larger counts.
            return [by_count.get(count, last) for count in counts]

        return predict_stages


BASELINE = GradientBoosting()
