"""What boosting libraries share: the grid (paper Tables 18 to 21), and fits that contain others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pydantic import ConfigDict, Field

from baselines.baseline import Predictor
from baselines.estimators import EstimatorBaseline
from baselines.grids import Parameters
from npt.validation import Strict

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


class Rounds(Strict):
    """The number of rounds, or of trees; all other parameters are left to the library."""

    model_config = ConfigDict(extra="allow")

    n_estimators: int = Field(default=1, ge=1)


class Boosting(EstimatorBaseline):
    """A boosting library, where a fit of many rounds contains those of fewer."""

    schema = Rounds
    test_settings = {"grid": {"n_estimators": [3]}}
    quick = {
        "learning_rate": [0.1],
        "max_depth": [3, 5],
        "n_estimators": [100, 500],
    }
    paper = {
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


def by_rounds(predict: Callable[[np.ndarray, int], np.ndarray]) -> Predictor:
    """A predictor from a function of features and the number of first rounds; 0 takes all."""
    return lambda features, parameters: predict(features, parameters.get("n_estimators", 0))
