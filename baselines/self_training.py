"""Self-training of logistic regression (Yarowsky 1995): not in the paper; reads unlabelled rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.baseline import Predictor
from baselines.estimators import EstimatorBaseline, prior, single_model
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources


class SelfTraining(EstimatorBaseline):
    """Logistic regression, fitted again to its own confident predictions."""

    name = "self_training"
    title = "Self-training"
    classifier = "sklearn.linear_model.LogisticRegression"
    libraries = ("scikit-learn",)
    quick = paper = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    test_settings = {"grid": {"C": [1.0]}}

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit to labelled and unlabelled train rows."""
        from sklearn.semi_supervised import SelfTrainingClassifier

        if len(data.seen_classes) < 2:
            return prior(data)
        estimator: Any = self.estimator(data.task)(**{"max_iter": 10_000, **parameters})
        if len(data.unlabelled):
            estimator = SelfTrainingClassifier(estimator, max_iter=100)
        rows = np.concatenate([data.train, data.unlabelled])
        unknown = np.full(len(data.unlabelled), -1)
        estimator.fit(data.features[rows], np.concatenate([data.train_labels, unknown]))
        return single_model(estimator.predict_proba)


BASELINE = SelfTraining()
