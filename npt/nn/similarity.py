"""Distances as inner products, so that attention by distance costs what dot products cost."""

from __future__ import annotations

import torch
from torch import Tensor


def distance_features(queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Features whose inner products are -||q_i - k_j||^2, up to a constant of every query.

    A softmax over the keys removes the constant. Both are moved by the mean key first, which
    changes no distance and keeps the squares small.

    Args:
        queries: (..., m, c).
        keys: (..., s, c).

    Returns:
        Features (..., m, c + 1) and (..., s, c + 1).
    """
    centre = keys.detach().mean(-2, keepdim=True)  # (..., 1, c)
    queries = queries - centre
    keys = keys - centre
    ones = torch.ones_like(queries[..., :1])
    squares = keys.square().sum(-1, keepdim=True)
    query_features = torch.cat([queries, ones], -1)
    key_features = torch.cat([2 * keys, -squares], -1)
    return query_features, key_features
