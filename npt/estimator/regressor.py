"""The regressor."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from npt.data.frames import require_moderate
from npt.estimator.arguments import computing, value_errors
from npt.estimator.base import TARGET, NPTEstimator, require_finite
from npt.estimator.frames import read_target
from npt.estimator.solved_model import SolvedModel
from npt.table import Column


class NPTRegressor(RegressorMixin, NPTEstimator):
    """A Non-Parametric Transformer that predicts numbers."""

    _task = "regressor"

    def predict(self, X: Any) -> np.ndarray:
        """A number (n,) for each new row of X (n, d), in the units of y."""
        return self._predict(X)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles (n, q) of the targets of new rows X (n, d), from residuals of left-out rows.

        Rows like the fitted ones lie below a quantile about as often as it says, on average over
        all rows, not for each kind of row, nor for later rows of a trend. With `groups`, this is so
        for rows of new groups. With up to 100 fitted rows or groups, the first call tunes up to ten
        times, each time without a tenth of them. With more, or after `with_rows`, what is tuned has
        seen all labels, so that quantiles are slightly too narrow where rows are few.

        Args:
            quantiles: Levels (q,) between 0 and 1.

        Raises:
            ValueError: The architecture is not the solved one, or a level is out of range, or too
                near 0 or 1 for the number of fitted rows.
        """
        table = self._new_rows(X)
        levels = np.ravel(quantiles)
        is_number = levels.dtype.kind == "f"
        if not len(levels) or not is_number or not np.all((levels > 0) & (levels < 1)):
            raise ValueError(f"quantiles: {quantiles!r}; allowed: above 0, below 1")
        if not isinstance(self.model_, SolvedModel):
            found = self.model_.architecture
            raise ValueError(
                f"quantiles and intervals: only the architecture solved has them, found {found}"
            )
        with computing(self.n_jobs):
            values = self.model_.quantiles(table, levels)
        require_finite(values)
        return values

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Lower and upper ends (n, 2) of intervals that hold the targets with a probability.

        See `predict_quantiles`.

        Args:
            coverage: The probability, between 0 and 1.
        """
        if not isinstance(coverage, Real) or not 0 < coverage < 1:
            raise ValueError(f"coverage: {coverage!r}; allowed: above 0, below 1")
        return self.predict_quantiles(X, [(1 - coverage) / 2, (1 + coverage) / 2])

    def _read_target(self, y: Any) -> np.ndarray:
        values = read_target(self, y)
        if values.dtype.kind in "mM":
            raise ValueError("y has dates or durations; numbers are needed")
        try:
            numbers = values.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError("y has values that are not numbers") from None
        with value_errors():
            require_moderate(numbers, "y")
        return numbers

    def _learn_target(self, y: np.ndarray) -> Column:
        return Column(TARGET, "continuous")

    def _encode_target(self, y: np.ndarray, where: str) -> np.ndarray:
        return y
