"""Attention of rows that are near each other; pairs of distant groups are not computed.

Rows are split into groups by their locations, as the leaves of a k-d tree are. A group's queries
attend to the groups whose bounding boxes come near enough, and memory grows with the pairs that are
left. B tables, k heads, m queries, s keys, f coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from npt.nn.kernels.attention import KEPT_SCORES, AttentionDropout
from npt.nn.kernels.dropout import keep_probability

GROUP = 128
EXCLUDED = -1e4  # a query without any near key attends to all of its neighbouring groups' keys


@dataclass(frozen=True)
class Rule:
    """How a Gaussian of the distance changes scores.

    Attributes:
        threshold: Pairs with a smaller Gaussian are excluded; None excludes none.
        multiplied: The Gaussian is multiplied with the score, instead of its logarithm added.
    """

    threshold: float | None
    multiplied: bool

    @property
    def is_plain(self) -> bool:
        """Whether inner products can express it."""
        return self.threshold is None and not self.multiplied

    @property
    def radius(self) -> float:
        """Distance beyond which pairs are excluded."""
        if self.threshold is None:
            return math.inf
        return math.sqrt(-2 * math.log(self.threshold))

    def __call__(
        self,
        scores: Tensor,
        query_locations: Tensor,
        key_locations: Tensor,
    ) -> Tensor:
        """Scores (B, k, m, s) of rows at (B, m, f) and (B, s, f)."""
        squares = _squared_distances(query_locations, key_locations)[:, None]  # (B, 1, m, s)
        log_gaussian = (-0.5 * squares).to(scores.dtype)
        if self.multiplied:
            scores = scores * log_gaussian.exp()
        else:
            scores = scores + log_gaussian
        if self.threshold is None:
            return scores
        return torch.where(squares > self.radius**2, scores + EXCLUDED, scores)


def local_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    query_locations: Tensor,
    key_locations: Tensor,
    rule: Rule,
    *,
    scale: float,
    dropout: AttentionDropout | None = None,
    present: Tensor | None = None,
) -> Tensor:
    """softmax(rule(Q K^T * scale)) V, (B, k, m, c).

    Args:
        queries: (B, k, m, c'), at the locations (B, m, f).
        keys: (B, k, s, c'), at the locations (B, s, f).
        values: (B, k, s, c).
        present: Which keys (B, s) are attended to.
    """
    outputs = []
    part = 0
    for table in range(len(queries)):
        query_groups, key_groups = _neighbours(
            query_locations[table],
            key_locations[table],
            None if present is None else present[table],
            rule.radius,
        )
        recompute = _pairs(query_groups, key_groups) * queries.shape[1] > KEPT_SCORES
        attended = []
        for rows, near in zip(query_groups, key_groups, strict=True):
            drop = _Dropped.of(dropout, part, queries.is_cpu)
            arguments = (
                queries[table, :, rows],
                keys[table, :, near],
                values[table, :, near],
                query_locations[table, rows],
                key_locations[table, near],
                rule,
                scale,
                drop,
            )
            if recompute and torch.is_grad_enabled():
                attended.append(checkpoint(_attend, *arguments, use_reentrant=False))
            else:
                attended.append(_attend(*arguments))
            part += 1
        in_groups = torch.cat(attended, 1)  # (k, m, c)
        order = torch.cat(query_groups).argsort()
        outputs.append(in_groups[:, order])
    return torch.stack(outputs)


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


def computed_pairs(locations: Tensor, radius: float) -> int:
    """Pairs of rows at (s, f) that are computed, of s^2."""
    query_groups, key_groups = _neighbours(locations, locations, None, radius)
    return _pairs(query_groups, key_groups)


def _pairs(query_groups: list[Tensor], key_groups: list[Tensor]) -> int:
    groups = zip(query_groups, key_groups, strict=True)
    return sum(len(rows) * len(near) for rows, near in groups)


def _neighbours(
    query_locations: Tensor,
    key_locations: Tensor,
    present: Tensor | None,
    radius: float,
) -> tuple[list[Tensor], list[Tensor]]:
    """Groups of queries, and for each the keys that may be within the radius of one of them."""
    query_locations = query_locations.detach()
    key_locations = key_locations.detach()
    candidates = torch.arange(len(key_locations), device=key_locations.device)
    if present is not None:
        candidates = candidates[present]
    if math.isinf(radius):
        rows = torch.arange(len(query_locations), device=query_locations.device)
        query_groups = list(rows.split(GROUP))
        return query_groups, [candidates] * len(query_groups)
    query_groups = groups_of(query_locations)
    key_groups = [candidates[rows] for rows in groups_of(key_locations[candidates])]
    gaps = _gaps(_boxes(query_locations, query_groups), _boxes(key_locations, key_groups))
    near = gaps <= radius
    near |= gaps == gaps.amin(1, keepdim=True)
    return query_groups, [_joined(key_groups, row) for row in near.tolist()]


def _joined(groups: list[Tensor], chosen: list[bool]) -> Tensor:
    members = [group for group, is_chosen in zip(groups, chosen, strict=True) if is_chosen]
    return torch.cat(members)


def _boxes(locations: Tensor, groups: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Lowest and highest coordinates (groups, f)."""
    lowest = [locations[rows].amin(0) for rows in groups]
    highest = [locations[rows].amax(0) for rows in groups]
    return torch.stack(lowest), torch.stack(highest)


def _gaps(queries: tuple[Tensor, Tensor], keys: tuple[Tensor, Tensor]) -> Tensor:
    """Distances (query groups, key groups) of bounding boxes."""
    below = keys[0][None] - queries[1][:, None]
    above = queries[0][:, None] - keys[1][None]
    gaps = torch.maximum(below, above).clamp(min=0)  # (query groups, key groups, f)
    return gaps.square().sum(-1).sqrt()


@dataclass(frozen=True)
class _Dropped:
    """Dropout of one group's probabilities; on the CPU with masks that can be drawn again."""

    dropout: AttentionDropout
    part: int
    key: int | None

    @classmethod
    def of(
        cls,
        dropout: AttentionDropout | None,
        part: int,
        is_cpu: bool,
    ) -> _Dropped | None:
        if dropout is None or dropout.rate == 0:
            return None
        return cls(dropout, part, dropout.masks.key if is_cpu else None)

    def __call__(self, probabilities: Tensor) -> Tensor:
        rate = self.dropout.rate
        if self.key is None:
            return F.dropout(probabilities, rate)
        masks = self.dropout.masks
        mask = masks.kept(probabilities.shape, rate, self.dropout.site, self.part, self.key)
        return probabilities * mask.to(probabilities.dtype) / keep_probability(rate)


def _attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    query_locations: Tensor,
    key_locations: Tensor,
    rule: Rule,
    scale: float,
    dropout: _Dropped | None,
) -> Tensor:
    """Attention (k, m, c) of one group."""
    scores = queries @ keys.transpose(-1, -2) * scale  # (k, m, s)
    weighed = rule(scores[None], query_locations[None], key_locations[None])[0]
    precise = torch.promote_types(weighed.dtype, torch.float32)
    probabilities = weighed.to(precise).softmax(-1).to(weighed.dtype)
    if dropout is not None:
        probabilities = dropout(probabilities)
    return probabilities @ values


def _squared_distances(left: Tensor, right: Tensor) -> Tensor:
    """Squared distances (..., m, s) of (..., m, f) and (..., s, f)."""
    products = left @ right.transpose(-1, -2)
    of_left = left.square().sum(-1)[..., :, None]
    of_right = right.square().sum(-1)[..., None, :]
    return (of_left + of_right - 2 * products).clamp(min=0)
