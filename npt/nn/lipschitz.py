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
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

if TYPE_CHECKING:
    from npt.nn.block import Block
    from npt.nn.model import NPT

Norm = Literal["maximum", "euclidean"]
ORDERS: dict[Norm, float] = {"maximum": math.inf, "euclidean": 2}
GELU_SLOPE = 1.1290  # the largest slope of GELU, at sqrt(2), is 1.12890


def attention_bound(
    query: Tensor,
    value: Tensor,
    output: Tensor,
    positions: int | Tensor,
    *,
    scale: float,
    norm: Norm = "maximum",
) -> Tensor:
    """Bound of the Lipschitz constant of tied L2 attention with its output layer.

    Args:
        query: Transposes (k, c, M) of the heads' W^Q.
        value: Transposes (k, c, M) of the heads' W^V.
        output: Transpose (M, M) of W^O.
        positions: Numbers of positions (...) that are attended to.
        scale: Factor of the squared distances and of A.
        norm: `maximum` or `euclidean`, of the inputs of all positions together.

    Returns:
        Bounds (...), differentiable in the weights.
    """
    positions = torch.as_tensor(positions).to(query)
    moments = 4 * second_moment(positions)
    if norm == "euclidean":
        query_norms = matrix_norm(query, norm)  # (k,)
        value_norms = matrix_norm(value, norm)  # (k,)
        heads = (query_norms.pow(4) * value_norms.square()).sum().sqrt()
        weights = heads * matrix_norm(output, norm)
        return scale * (moments + 1) * positions.sqrt() * weights
    head_width = query.shape[1]
    outgoing = matrix_norm(query, norm)  # (k,), of the transposes
    incoming = matrix_norm(query.mT, norm)  # (k,)
    values = matrix_norm(value, norm)  # (k,)
    weights = matrix_norm(output, norm) * (outgoing * incoming).max() * values.max()
    return scale * (moments * math.sqrt(head_width) + 1) * weights


def second_moment(positions: Tensor) -> Tensor:
    """phi^-1(n - 1) = W_0((n - 1) / e): bound of a query's mean squared distance to n positions.

    W_0 is the Lambert function, and the mean is weighted by the attention.
    """
    from scipy.special import lambertw

    arguments = (positions.detach().cpu().double() - 1) / math.e
    solutions = lambertw(arguments.numpy()).real
    return torch.as_tensor(solutions).to(positions)


def influence_bound(
    model: NPT,
    positions: int,
    changes: Sequence[float],
    norm: Norm = "maximum",
) -> tuple[float, float]:
    """Bounds of the change of target outputs, when cells of one row change.

    Bounds of the blocks are multiplied. A change reaches other rows through attention between
    datapoints alone, so that two factors are carried on: that of all rows together and that of any
    row but the changed one.

    Args:
        positions: Rows that are attended to.
        changes: Largest change (d,) of each column's cell, in standard deviations; 1 for another
            class, 0 for a column that stays.
        norm: In which the bounds of blocks are taken. Either gives valid bounds of an output.

    Returns:
        Bounds for the changed row and for any other row, of standardised values or logits.
        Infinite where a block has no bound.
    """
    of_tokens = model.embedding.largest_changes(changes)
    together = vector_norm(of_tokens, norm)
    other = 0.0
    columns = model.layout.tokens
    kinds = zip(model.over_rows, model.to_others, model.blocks, strict=True)
    for over_rows, to_others, block in kinds:
        source = together if to_others else other
        attended = columns
        if over_rows:
            attended = positions if to_others else 1
        residual, attention, feed_forward = block_bounds(
            block,  # type: ignore[arg-type]
            attended,
            norm,
        )
        reached = residual * other
        if attention and source:  # zero times an infinite bound is no number
            reached += attention * source
        other = reached * feed_forward if reached else 0.0
        together *= (residual + attention) * feed_forward
    with torch.no_grad():
        head = matrix_norm(model.head.target_weight, norm).item()
    return together * head, other * head


def block_bounds(
    block: Block,
    positions: int,
    norm: Norm = "maximum",
) -> tuple[float, float, float]:
    """Bounds of a block's residual, attention and feed-forward layer."""
    with torch.no_grad():
        residual = matrix_norm(block.residual.weight, norm).item()
        widen = matrix_norm(block.widen.weight, norm).item()
        narrow = matrix_norm(block.narrow.weight, norm).item()
        attention = _attention(block, positions, norm)
    width = block.residual.in_features
    if attention:
        attention *= norm_slope(block.norm_attention, width, norm)
    slope = norm_slope(block.norm_feed_forward, width, norm)
    feed_forward = 1 + GELU_SLOPE * widen * narrow * slope
    return residual, attention, feed_forward


def _attention(block: Block, positions: int, norm: Norm) -> float:
    from npt.nn.block import TiedBlock

    if not isinstance(block, TiedBlock):
        return math.inf
    bound = block.bound(positions, norm)
    if block.contraction is None:
        return bound.item()
    relative = bound / block.smaller_bound(positions)
    return block.contraction * relative.item()


def norm_slope(normalisation: torch.nn.Module, width: int, norm: Norm) -> float:
    """Lipschitz constant of a normalisation."""
    from npt.nn.block import Centre

    if isinstance(normalisation, torch.nn.Identity):
        return 1.0
    if isinstance(normalisation, Centre):
        return 1.0 if norm == "euclidean" else 2 * (width - 1) / width
    return math.inf  # of LayerNorm, 1 / sqrt(epsilon): without use


def matrix_norm(weights: Tensor, norm: Norm) -> Tensor:
    """Norms (...) of matrices (..., m, n): largest row sums, or largest singular values."""
    return torch.linalg.matrix_norm(weights, ORDERS[norm])


def vector_norm(x: Tensor, norm: Norm) -> float:
    """The norm of all elements together."""
    return torch.linalg.vector_norm(x, ORDERS[norm]).item()
