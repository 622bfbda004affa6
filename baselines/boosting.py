"""What boosting libraries share: the grid (paper Tables 18 to 21), and fits that contain others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from baselines.baseline import Predictor
from baselines.estimators import EstimatorBaseline
from baselines.grids import Grid, Parameters

# Parameters under which m rounds are the first m of any longer fit. Others, such as sampling or
# early stopping, may depend on the number of rounds, and so does CatBoost's default learning rate.
INDEPENDENT_OF_ROUNDS = {
    "learning_rate",
    "max_depth",
    "n_estimators",
    "min_child_samples",
    "min_child_weight",
    "reg_lambda",
}


class Boosting(EstimatorBaseline):
    """A boosting library, where a fit of many rounds contains those of fewer."""

    test_settings: ClassVar[Parameters] = {"grid": {"n_estimators": [3]}}
    quick: ClassVar[Grid] = {
        "learning_rate": [0.1],
        "max_depth": [3, 5],
        "n_estimators": [100, 500],
    }
    paper: ClassVar[Grid] = {
        "learning_rate": [1e-3, 1e-2, 0.1, 0.3],
        "max_depth": [3, 5, 10],
        "n_estimators": [50, 100, 500, 1000],
    }

    def shared_parameters(self, parameters: Parameters) -> tuple[str, ...]:
        """The number of rounds, where nothing else depends on it."""
        stated = "learning_rate" in parameters and "n_estimators" in parameters
        if stated and set(parameters) <= INDEPENDENT_OF_ROUNDS:
            return ("n_estimators",)
        return ()


def longest(configurations: Sequence[Parameters]) -> dict[str, Any]:
    """The configuration with the most rounds."""
    return dict(max(configurations, key=lambda parameters: parameters.get("n_estimators", 0)))


def by_rounds(predict: Callable[[np.ndarray, int], np.ndarray]) -> Predictor:
    """A predictor from a function of features and the number of first rounds; 0 takes all."""

    def predict_each(
        features: np.ndarray, configurations: Sequence[Parameters]
    ) -> list[np.ndarray]:
        predictions = []
        for parameters in configurations:
            predictions.append(predict(features, parameters.get("n_estimators", 0)))
        return predictions

    return predict_each


def at_counts(stages: Iterable[np.ndarray], counts: Sequence[int]) -> list[np.ndarray]:
    """Predictions after so many stages each; the last one serves a count beyond all stages."""
    last = np.empty(0)
    by_count = {}
    for count, last in enumerate(islice(stages, max(counts)), 1):
        if count in counts:
            by_count[count] = last
    return [by_count.get(count, last) for count in counts]
