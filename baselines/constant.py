"""A constant: the mean of the train targets, or the shares of their classes; not in the paper."""

from __future__ import annotations

from baselines.estimators import EstimatorBaseline


class Constant(EstimatorBaseline):
    """Predicts without features."""

    name = "constant"
    title = "Constant"
    regressor = "sklearn.dummy.DummyRegressor"
    classifier = "sklearn.dummy.DummyClassifier"
    libraries = ("scikit-learn",)
    test_settings = {"grid": "quick"}


BASELINE = Constant()
