"""Gradient boosting of scikit-learn (paper Table 18)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baselines.baseline import Predictor
from baselines.boosting import Boosting, at_counts, longest
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
        configurations: Sequence[Parameters],
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit the longest ensemble, whose stages are the shorter ones."""
        parameters = {"random_state": seed, **longest(configurations)}
        ensemble = self.estimator(data.task)(**parameters)
        ensemble.fit(data.train_features, data.train_labels)
        stages = ensemble.staged_predict if data.is_regression else ensemble.staged_predict_proba

        def predict_stages(
            features: np.ndarray, configurations: Sequence[Parameters]
        ) -> list[np.ndarray]:
            counts = []
            for parameters in configurations:
                counts.append(parameters.get("n_estimators", ensemble.n_estimators))
            return at_counts(stages(features), counts)

        return predict_stages


BASELINE = GradientBoosting()
