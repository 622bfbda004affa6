"""The regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from npt.errors import UserError
from npt.estimator.arguments import fraction_of, threads_of, torch_threads, value_errors
from npt.estimator.base import TARGET, NPTEstimator, require_finite
from npt.estimator.explanation import Attention, Explanation
from npt.estimator.job import Model
from npt.estimator.solved_model import SolvedModel
from npt.estimator.targets import read_numbers
from npt.table import Column


class NPTRegressor(RegressorMixin, NPTEstimator):
    """A Non-Parametric Transformer that predicts numbers."""

    _task = "regressor"

    def predict(self, X: Any) -> np.ndarray:
        """A number (n,) for each new row of X (n, d), in the units of y."""
        return self._predict(X)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles (n, q) of the target of each new row of X (n, d), from leave-one-out residuals.

        Rows like the fitted ones lie below a quantile about as often as it says, on average over
        all rows, not for each kind of row. What is tuned has seen all labels, so that quantiles of
        few rows are somewhat too narrow.

        Args:
            quantiles: Levels (q,) between 0 and 1.

        Raises:
            ValueError: The architecture is not the solved one, or a level is out of range, or too
                near 0 or 1 for the number of fitted rows.
        """
        check_is_fitted(self, "model_")
        table = self._new_rows(X)
        with value_errors():
            levels = np.array([fraction_of(level, "quantiles") for level in np.ravel(quantiles)])
            if not len(levels):
                raise UserError("quantiles: none; allowed: one level or more")
            if not isinstance(self.model_, SolvedModel):
                raise UserError("predict_quantiles: only the architecture solved has them")
            with torch_threads(threads_of(self.n_jobs)), np.errstate(over="ignore"):
                values = self.model_.quantiles(table, levels)
        require_finite(values)
        return values

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Lower and upper ends (n, 2) of intervals that hold the targets with a probability.

        See `predict_quantiles`.

        Args:
            coverage: The probability, between 0 and 1.
        """
        with value_errors():
            share = fraction_of(coverage, "coverage")
        return self.predict_quantiles(X, [(1 - share) / 2, (1 + share) / 2])

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
