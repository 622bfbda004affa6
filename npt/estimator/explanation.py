"""Which fitted rows a prediction attends to, and what it becomes without them.

n explained rows, m rows of the context, k of them shown for each explained row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

SHOWN_LINES = 5  # of the frame, in the text of an explanation


@dataclass(frozen=True, repr=False)
class Explanation:
    """Fitted rows that predictions attend to.

    "Without" a fitted row means that no block attends to it, and that nothing is copied from it.
    The network stays the same: it was trained with that row.

    Indices of fitted rows are those in the X of `fit`. Those of X_val follow them.

    Attributes:
        attention: Attention (n, m) to the fitted rows of `context`; each row sums to 1. It is the
            mean over all blocks between datapoints, their heads and the members.
        context: Indices (m,) of the fitted rows that are attended to.
        rows: Those (n, k) with the highest attention.
        weights: Their attention (n, k).
        targets: Their targets (n, k).
        predictions: Predicted values (n,), or classes.
        scores: Values (n,), or probabilities of the predicted classes.
        without_each: Scores (n, k) without each of the rows.
        without_all: Scores (n,) without all k of them.
    """

    attention: np.ndarray
    context: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    targets: np.ndarray
    predictions: np.ndarray
    scores: np.ndarray
    without_each: np.ndarray
    without_all: np.ndarray

    def __repr__(self) -> str:
        explained, shown = self.rows.shape
        lines = self.frame.head(SHOWN_LINES).to_string(index=False, float_format="{:.4g}".format)
        return f"Explanation of {explained} rows by {shown} fitted rows each:\n{lines}"

    @property
    def frame(self) -> pd.DataFrame:
        """A line for each explained row and fitted row.

        Columns: `row` (index in the explained X), `fitted_row` (index in the X of `fit`), `weight`,
        `target` (its target), `prediction`, `score`, `without_row`, `without_all_rows`.
        """
        explained, shown = self.rows.shape
        return pd.DataFrame(
            {
                "row": np.repeat(np.arange(explained), shown),
                "fitted_row": self.rows.ravel(),
                "weight": self.weights.ravel(),
                "target": self.targets.ravel(),
                "prediction": np.repeat(self.predictions, shown),
                "score": np.repeat(self.scores, shown),
                "without_row": self.without_each.ravel(),
                "without_all_rows": np.repeat(self.without_all, shown),
            }
        )
