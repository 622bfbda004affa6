"""The contract of scikit-learn."""

import inspect
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from npt.estimator import NPTClassifier, NPTRegressor
from tests.npt.estimator.small import SOLVED, classifier, regressor, table

FEW = {"max_updates": 15, "width": 16}
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "A repeated row attends to its copy, whose label is its own; and batches, dropout and "
        "validation rows are drawn by row. Weights are those of rows in the losses."
    )
}


def expected_failures(estimator: BaseEstimator) -> dict[str, str]:
    """None of solved NPT: there, a row of weight 2 is a row that stands twice."""
    return {} if estimator.get_params()["architecture"] == "solved" else EXPECTED_FAILURES


@parametrize_with_checks(
    [classifier(**FEW), regressor(**FEW), NPTClassifier(**SOLVED), NPTRegressor(**SOLVED)],
    expected_failed_checks=expected_failures,
)
def test_sklearn_accepts(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)


def test_random_state_may_be_a_generator_or_none() -> None:
    frame, target = table("regression", 30)
    for state in (None, np.random.RandomState(0)):
        model = regressor(random_state=state)
        first = model.fit(frame, target).predict(frame)
        second = model.fit(frame, target).predict(frame)
        assert not np.array_equal(first, second)


@pytest.mark.parametrize("estimator", [NPTClassifier, NPTRegressor])
def test_docstring_has_every_parameter_once(estimator: type) -> None:
    lines = str(inspect.getdoc(estimator)).splitlines()
    documented = [line.partition(" : ")[0] for line in lines if " : " in line]
    parameters = list(inspect.signature(estimator).parameters)
    assert documented[: len(parameters)] == parameters
    assert lines.count("Parameters") == 1
