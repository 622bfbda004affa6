"""Multi-head attention over queries and keys (..., s, c) and values (..., s, c').

On a GPU, PyTorch's fused kernels, but for many short sequences. On the CPU those serve only long
sequences without dropout; other probabilities are computed explicitly, in blocks that stay in the
processor's cache. Where all of them together would be large, the backward pass recomputes them, so
that memory grows linearly with the rows. Without dropout, very short sequences need no matrix
product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from npt.nn.kernels.dropout import Dropout

SHORT = 256
# Lengths without dropout on the CPU.
FASTER_ELEMENTWISE = range(1, 5)
FASTER_EXPLICITLY = range(5, 48)
LANES = 16  # a softmax over a row whose length is no multiple takes up to ten times as long
BLOCK_SCORES = 2**21
KEPT_SCORES = 2**24  # more probabilities are computed again in the backward pass


def by_head(x: Tensor, heads: int) -> Tensor:
    """(..., s, M) to (..., k, s, M / k), for k heads."""
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


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
    dropout: Dropout | None,
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
    key = dropout.key if dropout else 0  # the backward pass draws the same masks again

    def attend(queries: Tensor, keys: Tensor, values: Tensor, part: int) -> Tensor:
        """Attention (B, m, c') of the queries (B, m, c) of block number `part`."""
        scores = torch.baddbmm(bias, queries, keys.mT, alpha=scale)  # (B, m, s)
        precise = torch.promote_types(scores.dtype, torch.float32)
        probabilities = scores.softmax(-1, dtype=precise)
        if dropout is None:
            return probabilities.to(values.dtype) @ values
        mask = dropout.kept(probabilities.shape, part, key).to(precise)
        dropped = (probabilities * mask).to(values.dtype)
        return dropped @ values / dropout.keep_probability

    blocks = list(_blocks(batch, query_count, len(bias)))
    with torch.autocast("cpu", enabled=False):
        if batch * query_count * len(bias) > KEPT_SCORES:
            outputs = _Recomputed.apply(queries, keys, values, blocks, attend)
            return outputs.view(*shape[:-1], -1)  # type: ignore[union-attr]
        parts = []
        for part, (items, rows) in enumerate(blocks):
            attended = attend(queries[items, rows], keys[items], values[items], part)
            parts.append(attended.flatten(0, 1))
    return torch.cat(parts).view(*shape[:-1], -1)


class _Recomputed(torch.autograd.Function):
    """Attention of blocks, of which nothing is kept for the backward pass."""

    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        blocks: list[tuple[slice, slice]],
        attend: Callable[..., Tensor],
    ) -> Tensor:
        ctx.save_for_backward(queries, keys, values)
        ctx.blocks = blocks
        ctx.attend = attend
        outputs = values.new_empty(*queries.shape[:2], values.shape[-1])
        for part, (items, rows) in enumerate(blocks):
            outputs[items, rows] = attend(queries[items, rows], keys[items], values[items], part)
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        inputs = ctx.saved_tensors
        totals = [torch.zeros_like(tensor) for tensor in inputs]
        for part, (items, rows) in enumerate(ctx.blocks):
            places = ((items, rows), items, items)
            pairs = zip(inputs, places, strict=True)
            block = [tensor[place].detach().requires_grad_() for tensor, place in pairs]
            with torch.enable_grad():
                attended = ctx.attend(*block, part)
            to_block = torch.autograd.grad(attended, block, gradients[0][items, rows])
            for total, place, gradient in zip(totals, places, to_block, strict=True):
                total[place] += gradient
        return (*totals, None, None)


def _blocks(
    batch: int,
    queries: int,
    keys: int,
) -> Iterator[tuple[slice, slice]]:
    """Parts of the batch, or of one item's queries, with about BLOCK_SCORES scores each."""
    for items in _even_slices(batch, BLOCK_SCORES // (queries * keys)):
        for rows in _even_slices(queries, BLOCK_SCORES // keys):
            yield items, rows


def _even_slices(length: int, limit: int) -> list[slice]:
    """Slices whose lengths differ by at most one, each of at most `limit` but at least 1."""
    count = -(-length // max(1, limit))
    bounds = [length * i // count for i in range(count + 1)]
    return [slice(low, high) for low, high in pairwise(bounds)]
