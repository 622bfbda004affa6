"""Which fitted rows a prediction attends to, and what it becomes without them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

SHOWN_LINES = 5  # of the frame, in the text of an explanation


@dataclass(frozen=True, repr=False)
class Explanation:
    """Fitted rows that n predictions attend to, and m that they may attend to.

    "Without" a fitted row means that no block attends to it, and that nothing is copied from it.
    The network stays the same: it was trained with that row. Residuals of other rows, which compact
    NPT copies, stay the same, too. Shares of classes in solved NPT are those of the other rows.

    Rows are positions from 0, also where X has an index of its own: `X.iloc[fitted_row]` is a row
    of the X of `fit`. Those of X_val follow them.

    Attributes:
        attention: Attention (n, m) to the fitted rows of `context`; each row sums to 1. In
            compact NPT it is the mean over all blocks between datapoints, their heads and the
            members; in solved NPT it is the weights of the labels, which may be negative.
        context: Positions (m,) of the fitted rows that are attended to.
        frame: A line for each explained row and fitted row, those with the largest absolute
            attention first: `row` (position in the explained X), `fitted_row` (position in the X of
            `fit`), `weight` (its attention), `target` (its target; solved NPT takes rows with
            equal features and targets as one, with the position of the first), `prediction` (a
            value or class), `score` (the value, or the probability of that class), and the score
            `without_row`, and `without_all_rows` that are shown.
    """

    attention: np.ndarray
    context: np.ndarray
    frame: pd.DataFrame

    def __repr__(self) -> str:
        explained = len(self.attention)
        shown = len(self.frame) // explained
        lines = self.frame.head(SHOWN_LINES).to_string(index=False, float_format="{:.4g}".format)
        return f"Explanation of {explained} rows by {shown} fitted rows each:\n{lines}"
