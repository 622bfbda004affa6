"""A constant: the mean of the train targets, or the shares of their classes; not in the paper."""

from __future__ import annotations

from typing import ClassVar

from baselines.estimators import EstimatorBaseline
from baselines.grids import Parameters


class Constant(EstimatorBaseline):
    """Predicts without features."""

    name = "constant"
    title = "Constant"
    regressor = "sklearn.dummy.DummyRegressor"
    classifier = "sklearn.dummy.DummyClassifier"
    libraries = ("scikit-learn",)
    test_settings: ClassVar[Parameters] = {"grid": "quick"}


BASELINE = Constant()
