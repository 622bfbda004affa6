"""Multi-head attention over queries and keys (..., s, c) and values (..., s, c').

On a GPU, PyTorch's fused kernels. On the CPU those have no dropout and are slow for short
sequences, so there the probabilities are computed explicitly, in blocks that stay in the
processor's cache. Where all of them together would be large, the backward pass recomputes them, so
that memory grows linearly with the rows. Without dropout, very short sequences need no matrix
product.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from npt.nn.kernels.dropout import Dropout

SHORT = 256
# Lengths without dropout on the CPU.
FASTER_ELEMENTWISE = range(1, 5)
FASTER_EXPLICITLY = range(5, 48)
LANES = 16  # a softmax over a row of another length takes up to ten times as long
BLOCK_SCORES = 2**21
KEPT_SCORES = 2**24  # more probabilities are computed again in the backward pass


def dot_product(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    scale: float,
    dropout: Dropout | None = None,
) -> Tensor:
    """softmax(Q K^T * scale) V (paper eq. 1), with dropout of the probabilities.

    Args:
        scale: NPT divides by the root of the block's full width, not of a head's (paper Appendix
            C.1).
        dropout: None in evaluation.
    """
    if dropout is not None and dropout.rate == 0:
        dropout = None
    if not queries.is_cpu:
        return _on_gpu(queries, keys, values, scale, dropout.rate if dropout else 0.0)
    positions = keys.shape[-2]
    if dropout is None and positions in FASTER_ELEMENTWISE and queries.dtype != torch.bfloat16:
        return elementwise(queries, keys, values, scale)
    if dropout is None and positions not in FASTER_EXPLICITLY:
        return fused(queries, keys, values, scale=scale)
    return explicit(queries, keys, values, scale, dropout)


def _on_gpu(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    scale: float,
    rate: float,
) -> Tensor:
    """The fused kernels, which refuse the many short sequences of attention between attributes."""
    if keys.shape[-2] <= SHORT and keys.ndim > 3 and len(keys) > 1:
        probabilities = (queries @ keys.mT * scale).softmax(-1)
        return F.dropout(probabilities, rate, rate > 0) @ values
    return fused(queries, keys, values, dropout_p=rate, scale=scale)


def fused(queries: Tensor, keys: Tensor, values: Tensor, **options: Any) -> Tensor:
    """`dot_product` by PyTorch's kernels.

    They require equal widths of keys and values, and on a GPU multiples of eight.
    """
    value_width = values.shape[-1]
    width = max(keys.shape[-1], value_width)
    if queries.is_cuda:
        width += -width % 8
    padded = []
    for x in (queries, keys, values):
        missing = width - x.shape[-1]
        padded.append(F.pad(x, (0, missing)) if missing else x)
    return F.scaled_dot_product_attention(*padded, **options)[..., :value_width]


def elementwise(queries: Tensor, keys: Tensor, values: Tensor, scale: float) -> Tensor:
    """`dot_product` by elementwise products of all pairs, without dropout.

    Fast for few positions, whose heads lie side by side in memory.
    """
    q = queries.transpose(-2, -3).unsqueeze(-3)  # (..., m, 1, k, c)
    k = keys.transpose(-2, -3).unsqueeze(-4)  # (..., 1, s, k, c)
    v = values.transpose(-2, -3).unsqueeze(-4)  # (..., 1, s, k, c')
    scores = (q * k).sum(-1) * scale  # (..., m, s, k)
    probabilities = scores.softmax(-2)
    return (probabilities.unsqueeze(-1) * v).sum(-3).transpose(-2, -3)  # (..., k, m, c')


def explicit(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    scale: float,
    dropout: Dropout | None = None,
) -> Tensor:
    """`dot_product` by explicit probabilities, over one batch of short or long sequences."""
    shape = queries.shape
    length = keys.shape[-2]
    padding = -length % LANES if length <= SHORT else 0
    queries = queries.flatten(0, -3)
    keys = F.pad(keys.flatten(0, -3), (0, 0, 0, padding))
    values = F.pad(values.flatten(0, -3), (0, 0, 0, padding))
    batch, query_count, _ = queries.shape
    bias = queries.new_zeros(length + padding)
    bias[length:] = -torch.inf
    items = _even_sizes(batch, BLOCK_SCORES // (query_count * len(bias)))
    rows = _even_sizes(query_count, BLOCK_SCORES // len(bias))
    attend: Callable[..., Tensor] = _attend
    if batch * query_count * len(bias) > KEPT_SCORES and torch.is_grad_enabled():
        attend = partial(checkpoint, _attend, use_reentrant=False, preserve_rng_state=False)
    key = dropout.key if dropout else 0
    outputs: list[Tensor] = []
    blocks = zip(queries.split(items), keys.split(items), values.split(items), strict=True)
    with torch.autocast("cpu", enabled=False):
        for q, k, v in blocks:
            for block in q.split(rows, 1):
                attended = attend(block, k, v, bias, scale, dropout, key, len(outputs))
                outputs.append(attended.flatten(0, 1))
    return torch.cat(outputs).view(*shape[:-1], -1)


def _attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    bias: Tensor,
    scale: float,
    dropout: Dropout | None,
    key: int,
    part: int,
) -> Tensor:
    """Attention (B, m, c') of one block of queries (B, m, c), with a bias (s,) of all scores.

    Args:
        key: Seed of the dropout's mask.
        part: Number of the block.
    """
    scores = torch.baddbmm(bias, queries, keys.mT, alpha=scale)  # (B, m, s)
    precise = torch.promote_types(scores.dtype, torch.float32)
    probabilities = scores.softmax(-1, dtype=precise)
    if dropout is None:
        return probabilities.to(values.dtype) @ values
    mask = dropout.kept(probabilities.shape, part, key).to(precise)
    dropped = (probabilities * mask).to(values.dtype)
    return dropped @ values / dropout.keep_probability


def _even_sizes(length: int, limit: int) -> list[int]:
    """Sizes that differ by at most one, each of at most `limit` but at least 1."""
    count = -(-length // max(1, limit))
    bounds = [length * i // count for i in range(count + 1)]
    return [high - low for low, high in pairwise(bounds)]
