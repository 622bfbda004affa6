"""Bounds of Lipschitz constants of L2 attention (Kim, Papamakarios and Mnih 2021, Theorem 3.2).

n positions of width M, k heads of width c; scores are divided by sqrt(M), where the paper has
sqrt(c). With the scale s = 1 / sqrt(M), u = 4 phi^-1(n - 1) and phi(x) = x exp(x + 1):

    maximum norm:    s (u sqrt(c) + 1) |W^O'|_inf max_h |W^Q|_inf |W^Q'|_inf max_h |W^V'|_inf
    Euclidean norm:  s (u + 1) sqrt(n) |W^O|_2 sqrt(sum_h |W^Q|_2^4 |W^V|_2^2)

The norms are of the inputs of all positions together. The fourth power is due to A, which grows
with the square of W^Q; with a square in its place, random weights break the bound.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

Norm = Literal["maximum", "euclidean"]
ORDERS: dict[Norm, float] = {"maximum": math.inf, "euclidean": 2}


def attention_bound(
    query: Tensor,
    value: Tensor,
    output: Tensor,
    positions: int,
    *,
    scale: float,
    norm: Norm = "maximum",
) -> Tensor:
    """Bound of the Lipschitz constant of tied L2 attention with its output layer.

    Args:
        query: Transposes (k, c, M) of the heads' W^Q.
        value: Transposes (k, c, M) of the heads' W^V.
        output: Transpose (M, M) of W^O.
        positions: Number of positions that are attended to.
        scale: Factor of the squared distances and of A.
        norm: `maximum` or `euclidean`, of the inputs of all positions together.

    Returns:
        The bound (), differentiable in the weights.
    """
    moments = 4 * second_moment(positions)
    query_norms = matrix_norm(query, norm)  # (k,), of the transposes
    values = matrix_norm(value, norm)  # (k,)
    outputs = matrix_norm(output, norm)  # ()
    if norm == "euclidean":
        weights = (query_norms.pow(4) * values.square()).sum().sqrt() * outputs
        return scale * (moments + 1) * math.sqrt(positions) * weights
    incoming = matrix_norm(query.mT, norm)  # (k,)
    weights = outputs * (query_norms * incoming).max() * values.max()
    return scale * (moments * math.sqrt(query.shape[1]) + 1) * weights


def second_moment(positions: int) -> float:
    """phi^-1(n - 1) = W_0((n - 1) / e): bound of a query's mean squared distance to n positions.

    W_0 is the Lambert function, and the mean is weighted by the attention.
    """
    from scipy.special import lambertw

    return float(lambertw((positions - 1) / math.e).real)


def matrix_norm(weights: Tensor, norm: Norm) -> Tensor:
    """Norms (...) of matrices (..., m, n): largest row sums, or largest singular values."""
    return torch.linalg.matrix_norm(weights, ORDERS[norm])
