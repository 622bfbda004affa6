"""Which fitted rows a prediction attends to, and what it becomes without them.

n explained rows, m rows of the context, k of them shown for each explained row, K members, C
classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from npt.compact.trained import TrainedCompactNPT
from npt.compact.training import chunk_size
from npt.errors import UserError
from npt.table import Table

SHOWN_LINES = 5  # of the frame, in the text of an explanation


@dataclass(frozen=True)
class Attention:
    """Attention of rows to the context, and predictions without parts of it.

    Attributes:
        weights: Attention (n, m): the mean over blocks between datapoints and their heads, and the
            members' mean by their weights in the ensemble. Each row sums to 1.
        places: Rows of the context (n, k) that a row attends to most, in descending order.
        predictions: Values (n,) or probabilities (n, C) in the whole context.
        without_each: The same (n, k) or (n, k, C) without one of these rows.
        without_all: The same (n,) or (n, C) without all of them.
    """

    weights: np.ndarray
    places: np.ndarray
    predictions: np.ndarray
    without_each: np.ndarray
    without_all: np.ndarray

    @property
    def highest(self) -> np.ndarray:
        """Attention (n, k) to the rows of `places`."""
        return np.take_along_axis(self.weights, self.places, 1)

    def of_classes(self, codes: np.ndarray) -> Attention:
        """The same with the probabilities of one class (n,) for each row."""
        return replace(
            self,
            predictions=_of_classes(self.predictions, codes),
            without_each=_of_classes(self.without_each, codes),
            without_all=_of_classes(self.without_all, codes),
        )


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

    @classmethod
    def of(
        cls,
        attention: Attention,
        context: np.ndarray,
        targets: np.ndarray,
        predictions: np.ndarray,
    ) -> Explanation:
        """An explanation in the terms of X and y.

        Args:
            attention: With one number for a prediction.
            context: Indices of the context in the X of `fit` (m,).
            targets: Targets of the context (m,).
            predictions: Predicted values or classes (n,).
        """
        return cls(
            attention=attention.weights,
            context=context,
            rows=context[attention.places],
            weights=attention.highest,
            targets=targets[attention.places],
            predictions=predictions,
            scores=attention.predictions,
            without_each=attention.without_each,
            without_all=attention.without_all,
        )

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


@torch.no_grad()
def attention_of(trained: TrainedCompactNPT, table: Table, count: int) -> Attention:
    """Attention of the rows (n) of a table to the context of a model.

    Args:
        count: Number of rows of the context to leave out (k), at most m - 1.

    Raises:
        UserError: The model does not attend to other rows, or to one alone.
    """
    size = len(trained.context_rows)
    if not trained.settings.between_datapoints:
        raise UserError("explain: the model has no attention between datapoints")
    if size < 2:
        raise UserError("explain: the context has one row, and nothing is left without it")
    count = min(count, size - 1)
    features = trained.encoder.encode(table).to(trained.device, torch.float64)
    parts = []
    everything = torch.arange(len(features), device=trained.device)
    for part in everything.split(chunk_size(trained.context)):
        rows = trained.precise.encode(features.take(part))
        parts.append(_attention_of_part(trained, rows, count))
    return Attention(
        weights=np.concatenate([part.weights for part in parts]),
        places=np.concatenate([part.places for part in parts]),
        predictions=np.concatenate([part.predictions for part in parts]),
        without_each=np.concatenate([part.without_each for part in parts]),
        without_all=np.concatenate([part.without_all for part in parts]),
    )


def _attention_of_part(trained: TrainedCompactNPT, rows: Tensor, count: int) -> Attention:
    """Attention of encoded rows (K, n, r)."""
    weights = _mean_attention(trained, rows)
    places = weights.topk(count).indices
    nothing = torch.zeros_like(weights, dtype=torch.bool)
    all_places = nothing.scatter(1, places, True)
    without_each = []
    for rank in range(count):
        one_place = nothing.scatter(1, places[:, rank : rank + 1], True)
        without_each.append(_predicted(trained, rows, one_place))
    return Attention(
        weights=weights.cpu().numpy(),
        places=places.cpu().numpy(),
        predictions=_predicted(trained, rows, nothing),
        without_each=np.stack(without_each, axis=1),
        without_all=_predicted(trained, rows, all_places),
    )


def _mean_attention(trained: TrainedCompactNPT, rows: Tensor) -> Tensor:
    """Attention (n, m) of encoded rows, averaged over blocks, heads and members."""
    of_blocks = trained.precise.attention_weights(rows, trained.context)  # each (K, heads, n, m)
    return torch.stack(of_blocks).mean((0, 1, 2))


def _predicted(trained: TrainedCompactNPT, rows: Tensor, invisible: Tensor) -> np.ndarray:
    """Predictions of encoded rows that do not attend to some rows of the context (n, m)."""
    outputs = trained.precise.predict(rows, trained.context, invisible)
    return trained.decode(outputs).values


def _of_classes(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Probabilities (n, ...) of one class (n,) for each row, from those (n, ..., C) of all."""
    shape = (len(codes), *[1] * (probabilities.ndim - 1))
    chosen = np.take_along_axis(probabilities, codes.reshape(shape), -1)
    return chosen[..., 0]
