"""Bounds of how far one row can move the prediction of another, from the weights of a network."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from npt.nn.block import Block, Centre, TiedBlock
from npt.nn.embedding import ColumnEmbedding
from npt.nn.lipschitz import ORDERS, Norm, matrix_norm
from npt.nn.model import NPT

GELU_SLOPE = 1.1290  # the largest slope of GELU, at sqrt(2), is 1.12890


def influence_bound(
    model: NPT,
    positions: int,
    changes: Sequence[float],
    norm: Norm,
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
        Infinite where a block has no bound, and of images; for other rows 0 where none is attended
        to.
    """
    together = math.inf
    if isinstance(model.embedding, ColumnEmbedding):
        token_changes = model.embedding.largest_changes(changes)
        together = torch.linalg.vector_norm(token_changes, ORDERS[norm]).item()
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
        if together:
            together *= (residual + attention) * feed_forward
    with torch.no_grad():
        head = matrix_norm(model.head.target_layer()[0], norm).item()
    return together * head, other * head


@torch.no_grad()
def block_bounds(
    block: Block,
    positions: int,
    norm: Norm = "maximum",
) -> tuple[float, float, float]:
    """Bounds of a block's residual, attention and feed-forward layer."""
    layers = (block.residual, block.widen, block.narrow)
    residual, widen, narrow = (matrix_norm(layer.weight, norm).item() for layer in layers)
    width = block.residual.in_features
    attention = math.inf
    if isinstance(block, TiedBlock):
        bound = block.bound(positions, norm)
        attention = bound.item()
        if block.contraction is not None:
            attention = block.contraction * (bound / block.smaller_bound(positions)).item()
    if attention:
        attention *= norm_slope(block.norm_attention, width, norm)
    slope = norm_slope(block.norm_feed_forward, width, norm)
    return residual, attention, 1 + GELU_SLOPE * widen * narrow * slope


def norm_slope(normalisation: torch.nn.Module, width: int, norm: Norm) -> float:
    """Lipschitz constant of a normalisation."""
    if isinstance(normalisation, torch.nn.Identity):
        return 1.0
    if isinstance(normalisation, Centre):
        return 1.0 if norm == "euclidean" else 2 * (width - 1) / width
    return math.inf  # of LayerNorm, 1 / sqrt(epsilon): without use
