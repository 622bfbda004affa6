"""The regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from npt.estimator.base import TARGET, NPTEstimator
from npt.estimator.explanation import Attention, Explanation
from npt.estimator.job import Model
from npt.estimator.targets import read_numbers
from npt.table import Column


class NPTRegressor(RegressorMixin, NPTEstimator):
    """A Non-Parametric Transformer that predicts numbers."""

    _task = "regressor"

    def predict(self, X: Any) -> np.ndarray:
        """A number (n,) for each new row of X (n, d), in the units of y."""
        return self._predict(X)

    def _explanation(self, model: Model, attention: Attention) -> Explanation:
        return Explanation.of(
            attention,
            context=self.rows_[model.rows],
            targets=model.targets,
            predictions=attention.predictions,
        )

    def _read_target(self, y: Any) -> np.ndarray:
        return read_numbers(self, y)

    def _learn_target(self, y: np.ndarray) -> Column:
        return Column(TARGET, "continuous")

    def _encode_target(self, y: np.ndarray, where: str) -> np.ndarray:
        return y
