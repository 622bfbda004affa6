"""Self-training of logistic regression (Yarowsky 1995): not in the paper; reads unlabelled rows."""

from __future__ import annotations

from typing import Any

from baselines.baseline import Predictor
from baselines.estimators import EstimatorBaseline, fit_with_unlabelled
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
        """Fit one model."""
        from sklearn.semi_supervised import SelfTrainingClassifier

        estimator: Any = self.estimator(data.task)(**{"max_iter": 10_000, **parameters})
        if len(data.unlabelled):
            estimator = SelfTrainingClassifier(estimator, max_iter=100)
        return fit_with_unlabelled(estimator, data)


BASELINE = SelfTraining()
