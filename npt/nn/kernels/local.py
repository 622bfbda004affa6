"""Attention of rows to those within a radius; distant rows are not computed.

Queries are put into groups by their locations, as the leaves of a k-d tree are. A group's scores
are computed for the keys that are near to any of its queries. Finding them takes distances of all
pairs, in a few coordinates. B tables, k heads, m queries, s keys, f coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from npt.nn.kernels.dropout import Dropout

GROUP = 128
EXCLUDED = -1e4


def radius_of(threshold: float) -> float:
    """Distance in sigmas at which a Gaussian with the maximum 1 has fallen to the threshold."""
    return math.sqrt(-2 * math.log(threshold))


def local_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    query_locations: Tensor,
    key_locations: Tensor,
    radius: float,
    *,
    scale: float,
    dropout: Dropout | None = None,
    present: Tensor | None = None,
) -> Tensor:
    """softmax(Q K^T * scale) V over the keys within a radius of each query, (B, k, m, c).

    Args:
        queries: (B, k, m, c'), at the locations (B, m, f).
        keys: (B, k, s, c'), at the locations (B, s, f).
        values: (B, k, s, c).
        present: Which keys (B, s) are attended to.
    """
    if dropout is not None and dropout.rate == 0:
        dropout = None
    key = dropout.key if dropout else 0
    outputs = []
    part = 0
    for table in range(len(queries)):
        groups = neighbourhoods(
            query_locations[table],
            key_locations[table],
            radius,
            None if present is None else present[table],
        )
        settings = _Settings(groups, part, scale, dropout, key)
        outputs.append(_Grouped.apply(queries[table], keys[table], values[table], settings))
        part += len(groups)
    return torch.stack(outputs)


@dataclass(frozen=True)
class Neighbourhood:
    """Queries that are computed together.

    Attributes:
        rows: Indices (g,) of the queries.
        near: Indices (s,) of the keys within the radius of any of them.
        bias: 0 for pairs (g, s) within the radius, and a large negative number for others.
    """

    rows: Tensor
    near: Tensor
    bias: Tensor


def neighbourhoods(
    query_locations: Tensor,
    key_locations: Tensor,
    radius: float,
    present: Tensor | None = None,
    size: int = GROUP,
) -> list[Neighbourhood]:
    """Groups of queries at (m, f), with the keys at (s, f) that are near; their nearest always."""
    query_locations = query_locations.detach()
    key_locations = key_locations.detach()
    groups = []
    for rows in groups_of(query_locations, size):
        squares = squared_distances(query_locations[rows], key_locations)  # (g, s)
        if present is not None:
            squares = torch.where(present, squares, math.inf)
        limits = squares.amin(1, keepdim=True).clamp(min=radius**2)  # (g, 1)
        is_near = squares <= limits
        near = is_near.any(0).nonzero()[:, 0]
        bias = torch.where(is_near[:, near], 0.0, EXCLUDED)
        groups.append(Neighbourhood(rows, near, bias))
    return groups


def groups_of(locations: Tensor, size: int = GROUP) -> list[Tensor]:
    """Indices of rows at (s, f) in groups of at most `size`, split at medians as a k-d tree is."""
    waiting = [torch.arange(len(locations), device=locations.device)]
    groups = []
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            groups.append(rows)
            continue
        members = locations[rows]
        widest = (members.amax(0) - members.amin(0)).argmax()
        in_order = rows[members[:, widest].argsort(stable=True)]
        half = len(rows) // 2
        waiting += [in_order[half:], in_order[:half]]
    return groups


@dataclass(frozen=True)
class _Settings:
    """Groups of one table, the number of its first among all tables, and the key of masks."""

    groups: list[Neighbourhood]
    first_part: int
    scale: float
    dropout: Dropout | None
    key: int


class _Grouped(torch.autograd.Function):
    """Attention of one table; the backward pass computes the probabilities again."""

    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        settings: _Settings,
    ) -> Tensor:
        heads, query_count, _ = queries.shape
        outputs = queries.new_empty(heads, query_count, values.shape[2])
        for number, group in enumerate(settings.groups):
            probabilities = _probabilities(queries, keys, settings, group)
            dropped = _dropped(probabilities, settings, number)
            outputs[:, group.rows] = dropped @ values[:, group.near]
        ctx.save_for_backward(queries, keys, values, outputs)
        ctx.settings = settings
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        outgoing = gradients[0]
        queries, keys, values, outputs = ctx.saved_tensors
        settings = ctx.settings
        to_queries = torch.empty_like(queries)
        to_keys = torch.zeros_like(keys)
        to_values = torch.zeros_like(values)
        inner = (outgoing * outputs).sum(-1, keepdim=True)  # (k, m, 1)
        for number, group in enumerate(settings.groups):
            rows = group.rows
            near = group.near
            incoming = outgoing[:, rows]  # (k, g, c)
            probabilities = _probabilities(queries, keys, settings, group)
            dropped = _dropped(probabilities, settings, number)
            to_values.index_add_(1, near, dropped.mT @ incoming)
            scores = incoming @ values[:, near].mT  # (k, g, s)
            scores = (scores * dropped - probabilities * inner[:, rows]) * settings.scale
            to_queries[:, rows] = scores @ keys[:, near]
            to_keys.index_add_(1, near, scores.mT @ queries[:, rows])
        return to_queries, to_keys, to_values, None


def _probabilities(
    queries: Tensor,
    keys: Tensor,
    settings: _Settings,
    group: Neighbourhood,
) -> Tensor:
    """Probabilities (k, g, s) of a group."""
    near = keys[:, group.near].mT
    bias = group.bias.to(queries.dtype)
    scores = torch.baddbmm(bias, queries[:, group.rows], near, alpha=settings.scale)
    precise = torch.promote_types(scores.dtype, torch.float32)
    return scores.to(precise).softmax(-1).to(scores.dtype)


def _dropped(probabilities: Tensor, settings: _Settings, group: int) -> Tensor:
    """What dropout leaves of a group's probabilities."""
    if settings.dropout is None:
        return probabilities
    return settings.dropout.drop(probabilities, settings.first_part + group, settings.key)


def squared_distances(left: Tensor, right: Tensor) -> Tensor:
    """Squared distances (..., m, s) of (..., m, f) and (..., s, f)."""
    products = left @ right.mT
    left_squares = left.square().sum(-1)[..., :, None]
    right_squares = right.square().sum(-1)[..., None, :]
    return (left_squares + right_squares - 2 * products).clamp(min=0)
