"""Gradient boosting of scikit-learn (paper Table 18)."""

from __future__ import annotations

from itertools import islice

import numpy as np

from baselines.baseline import Predictor
from baselines.boosting import Boosting, by_rounds
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources


class GradientBoosting(Boosting):
    """Gradient boosting of scikit-learn, on one thread."""

    name = "gradient_boosting"
    title = "Gradient Boosting"
    regressor = "sklearn.ensemble.GradientBoostingRegressor"
    classifier = "sklearn.ensemble.GradientBoostingClassifier"
    libraries = ("scikit-learn",)

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit the longest ensemble, whose stages are the shorter ones."""
        ensemble = self.estimator(data.task)(**{"random_state": seed, **parameters})
        ensemble.fit(data.train_features, data.train_labels)
        stages = ensemble.staged_predict if data.is_regression else ensemble.staged_predict_proba

        def stage(features: np.ndarray, rounds: int) -> np.ndarray:
            *_, last = islice(stages(features), rounds or None)
            return last

        return by_rounds(stage)


BASELINE = GradientBoosting()
