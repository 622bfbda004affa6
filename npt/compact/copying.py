"""Copying: what near rows of the context show beyond their own predictions.

K members, n query rows, m rows of the context, r width of a row, C length of a label.

A network that is regularised enough for new rows does not learn single rows by heart, so where rows
repeat, it ignores what their copies show. After the training, a prediction for a row is therefore
moved by the residuals of the nearest rows: with weights w = exp(-squared distance / reach) of the
rows' vectors, by the sum of w * residual over 1 + the sum of w. The residual of a row is its label
minus the prediction for it in the context without itself. Probabilities are moved in the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from npt.compact.layers import normalised
from npt.nn.distances import squared_distances

# Candidates of the reach, in mean squared distances between rows of the context.
REACHES = (0.01, 0.03, 0.1, 0.3)
NEAREST = 32  # rows whose residuals move a prediction; rows at an equal distance count, too
TIE = 1e-3  # difference of squared distances that is rounding
PRIOR_WEIGHT = 1.0  # of the prediction, in rows of the context at distance zero
LEAST_PROBABILITY = 1e-4
SAMPLE = 512  # first rows of the context, whose mean distance is the unit of the reach


@dataclass(frozen=True)
class Residuals:
    """What the rows of a context show beyond their predictions.

    Attributes:
        vectors: Normalised vectors (K, m, r) of the rows.
        values: Residuals (K, m, C): of standardised values, or of probabilities.
    """

    vectors: Tensor
    values: Tensor


def moved(
    outputs: Tensor,
    rows: Tensor,
    residuals: Residuals,
    reach: Tensor,
    invisible: Tensor | None = None,
) -> Tensor:
    """Outputs (K, n, C) of encoded rows (K, n, r), moved by the residuals of near rows.

    Args:
        reach: Squared distance (K,) at which the weight of a row is 1 / e.
        invisible: Rows of the context (n, m) that do not count for a row.
    """
    squares = squared_distances(normalised(rows), residuals.vectors)
    if invisible is not None:
        squares = squares.masked_fill(invisible, math.inf)
    weights = torch.exp(-squares / reach.view(-1, 1, 1))  # (K, n, m)
    weights = weights.masked_fill(~nearest(squares), 0.0)
    total = weights.sum(-1, keepdim=True) + PRIOR_WEIGHT
    move = weights @ residuals.values / total  # (K, n, C)
    if outputs.shape[-1] == 1:
        return outputs + move
    probabilities = (outputs.softmax(-1) + move).clamp(min=LEAST_PROBABILITY)
    return (probabilities / probabilities.sum(-1, keepdim=True)).log()


def nearest(squares: Tensor) -> Tensor:
    """Which rows (K, n, m) of a context are the nearest, by squared distances (K, n, m)."""
    count = min(NEAREST, squares.shape[-1])
    closest = squares.topk(count, largest=False).values
    bound = closest[..., -1:] + TIE
    return squares <= bound


def near_rows(queries: Tensor, rows: Tensor) -> Tensor:
    """Indices of the rows (K, m, r) that are among the nearest of a query (K, n, r)."""
    squares = squared_distances(normalised(queries), normalised(rows))
    return nearest(squares).flatten(0, 1).any(0).nonzero().flatten()


def shown_beyond(outputs: Tensor, labels: Tensor) -> Tensor:
    """Residuals (K, m, C) of labels (m, C) with predicted outputs (K, m, C)."""
    if outputs.shape[-1] == 1:
        return labels - outputs
    return labels - outputs.softmax(-1)


def mean_distance(rows: Tensor) -> Tensor:
    """Mean squared distance (K,) of the first encoded rows (K, m, r), also to themselves."""
    vectors = normalised(rows[:, :SAMPLE])
    return squared_distances(vectors, vectors).mean((1, 2))
