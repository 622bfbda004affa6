"""Estimators in scikit-learn's style: built from parameters, fitted, and wrapped as predictors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from pkgutil import resolve_name
from typing import Any, ClassVar

import numpy as np

from baselines.baseline import Baseline, Predictor
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.table import Task


class EstimatorBaseline(Baseline):
    """A baseline whose model is an estimator in scikit-learn's style.

    Attributes:
        regressor: Module and name of the estimator of numbers; empty if there is none.
        classifier: Those of the estimator of classes.
    """

    regressor: ClassVar[str] = ""
    classifier: ClassVar[str]

    def supports(self, task: Task) -> str | None:
        """Refuses numbers without an estimator of them."""
        return "predicts classes alone" if task == "regression" and not self.regressor else None

    def estimator(self, task: Task) -> type:
        """Class of the estimator for a task."""
        return resolve_name(self.regressor if task == "regression" else self.classifier)

    def known_parameters(self, task: Task) -> Collection[str]:
        """Parameters of the estimator's constructor, those of its base classes included."""
        names: set[str] = set()
        if self.supports(task):  # the reason why there is no estimator
            return names
        for base in self.estimator(task).__mro__:
            names.update(inspect.signature(base.__init__).parameters)
        return names - {"self", "args", "kwargs"}

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit one model."""
        estimator = self.estimator(data.task)(**parameters)
        return single_model(fit_estimator(estimator, data))


def fit_estimator(estimator: Any, data: TrainingData, **options: Any) -> Any:
    """Fit to the train rows and return the function that predicts."""
    estimator.fit(data.train_features, data.train_labels, **options)
    return prediction_function(estimator, data)


def prediction_function(estimator: Any, data: TrainingData) -> Any:
    """The method of an estimator that gives values (n,) or class probabilities (n, K)."""
    if data.is_regression:
        return estimator.predict
    return estimator.predict_proba


def single_model(predict: Callable[[np.ndarray], np.ndarray]) -> Predictor:
    """A predictor of a model that serves a single configuration."""
    return lambda features, parameters: predict(features)


def features_vary(features: np.ndarray) -> bool:
    """Whether some column has two different values, where NaN is one value."""
    import pandas as pd

    return len(pd.DataFrame(features).drop_duplicates()) > 1


def prior(data: TrainingData) -> Predictor:
    """Predict the mean, or the shares of the classes, of the train rows."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    constant = DummyRegressor() if data.is_regression else DummyClassifier()
    return single_model(fit_estimator(constant, data))
