"""Ensembles whose fits contain shorter ones; the grid of boosting (paper Tables 18 to 21)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from pydantic import Field

from baselines.baseline import Predictor
from baselines.estimators import EstimatorBaseline
from baselines.grids import AnyParameters, Parameters


class Rounds(AnyParameters):
    """The number of rounds, or of trees; all other parameters are left to the library."""

    n_estimators: int = Field(default=1, ge=1)


class Ensemble(EstimatorBaseline):
    """Trees, where a fit of many rounds contains those of fewer.

    Attributes:
        independent: Parameters under which m rounds are the first m of any longer fit. Others, such
            as sampling or early stopping, may depend on the number of rounds.
    """

    independent: ClassVar[set[str]]

    schema = Rounds
    test_settings = {"grid": {"n_estimators": [3]}}

    def shared_parameters(self, parameters: Parameters) -> tuple[str, ...]:
        """The number of rounds, where nothing else depends on it."""
        if "n_estimators" in parameters and set(parameters) <= self.independent:
            return ("n_estimators",)
        return ()


class Boosting(Ensemble):
    """A boosting library."""

    independent = {
        "learning_rate",
        "max_depth",
        "n_estimators",
        "min_child_samples",
        "min_child_weight",
        "reg_lambda",
    }
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


def by_rounds(predict: Callable[[np.ndarray, int], np.ndarray]) -> Predictor:
    """A predictor from a function of features and the number of first rounds; 0 takes all."""
    return lambda features, parameters: predict(features, parameters.get("n_estimators", 0))
