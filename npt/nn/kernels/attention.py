"""Multi-head attention over queries and keys (..., s, c) and values (..., s, c').

On a GPU, PyTorch's fused kernels. On the CPU those have no dropout and are slow for short
sequences, so there the probabilities are computed explicitly, in blocks that stay in the
processor's cache. Where all of them together would be large, the backward pass recomputes them, so
that memory grows linearly with the rows. Without dropout, very short sequences need no matrix
product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    length = keys.shape[-2]
    padding = -length % LANES if length <= SHORT else 0
    key = dropout.key if dropout else 0
    outputs = _Explicit.apply(
        queries.flatten(0, -3),
        F.pad(keys.flatten(0, -3), (0, 0, 0, padding)),
        F.pad(values.flatten(0, -3), (0, 0, 0, padding)),
        _Settings(length, scale, dropout, key),
    )
    return outputs.view(*queries.shape[:-1], -1)  # type: ignore[union-attr]


@dataclass(frozen=True)
class _Settings:
    """Of the keys and values the first `length` count."""

    length: int
    scale: float
    dropout: Dropout | None
    key: int

    @property
    def rescale(self) -> float:
        """Factor that makes up for dropped probabilities."""
        return 1 / self.dropout.keep_probability if self.dropout else 1.0


class _Explicit(torch.autograd.Function):
    """Blockwise attention on the CPU over tensors (batch, s, c)."""

    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        settings: _Settings,
    ) -> Tensor:
        batch_size, query_count, _ = queries.shape
        key_count = keys.shape[1]
        outputs = queries.new_empty(batch_size, query_count, values.shape[2])
        fits = batch_size * query_count * key_count <= KEPT_SCORES
        keep = any(ctx.needs_input_grad) and fits
        kept = []
        ctx.blocks = list(_blocks(batch_size, query_count, key_count))
        with torch.autocast("cpu", enabled=False):
            for part, (batch, rows) in enumerate(ctx.blocks):
                probabilities, dropped = _probabilities(
                    queries[batch, rows], keys[batch], settings, part
                )
                _product(dropped, values[batch], settings.rescale, outputs[batch, rows])
                if keep:
                    kept += [probabilities, dropped]
        ctx.save_for_backward(queries, keys, values, outputs, *kept)
        ctx.settings = settings
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        outgoing = gradients[0].contiguous()
        queries, keys, values, outputs, *kept = ctx.saved_tensors
        settings = ctx.settings
        to_queries = torch.empty_like(queries, memory_format=torch.contiguous_format)
        # Wide and flat, (c, s), is the faster layout for these.
        to_keys = torch.zeros_like(keys.mT, memory_format=torch.contiguous_format)
        to_values = torch.zeros_like(values.mT, memory_format=torch.contiguous_format)
        # Sums of the products of probabilities and their gradients, for every query.
        inner = (outgoing * outputs).sum(-1, keepdim=True)
        for part, (batch, rows) in enumerate(ctx.blocks):
            block_queries = queries[batch, rows]
            incoming = outgoing[batch, rows]
            if kept:
                probabilities, dropped = kept[2 * part : 2 * part + 2]
            else:
                probabilities, dropped = _probabilities(block_queries, keys[batch], settings, part)
            scores = _product(incoming, values[batch].mT, settings.rescale)
            scores.mul_(dropped).addcmul_(probabilities, inner[batch, rows], value=-1)
            _product(scores, keys[batch], settings.scale, to_queries[batch, rows])
            to_values[batch].baddbmm_(incoming.mT, dropped, alpha=settings.rescale)
            to_keys[batch].baddbmm_(block_queries.mT, scores, alpha=settings.scale)
        return to_queries, to_keys.mT, to_values.mT, None


def _probabilities(
    queries: Tensor,
    keys: Tensor,
    settings: _Settings,
    part: int,
) -> tuple[Tensor, Tensor]:
    """Softmax of the scores, zero beyond `length`, and what dropout leaves of it."""
    scores = _product(queries, keys.mT, settings.scale)
    scores[:, :, settings.length :] = -torch.inf
    precise = torch.promote_types(scores.dtype, torch.float32)
    probabilities = scores.to(precise).softmax(-1)
    if settings.dropout is None:
        probabilities = probabilities.to(scores.dtype)
        return probabilities, probabilities
    mask = settings.dropout.kept(probabilities.shape, part, settings.key)
    dropped = probabilities * mask.to(precise)
    return probabilities.to(scores.dtype), dropped.to(scores.dtype)


def _product(
    left: Tensor,
    right: Tensor,
    factor: float,
    out: Tensor | None = None,
) -> Tensor:
    """Factor times left times right, without a separate pass for the factor."""
    if out is None:
        out = left.new_empty(*left.shape[:2], right.shape[2])
    return torch.baddbmm(out, left, right, beta=0, alpha=factor, out=out)


def _blocks(
    batch: int,
    queries: int,
    keys: int,
) -> Iterator[tuple[slice, slice]]:
    """Parts of the batch, or of one item's queries, with about BLOCK_SCORES scores each."""
    if queries * keys <= BLOCK_SCORES:
        for items in _even_slices(batch, BLOCK_SCORES // (queries * keys)):
            yield items, slice(0, queries)
        return
    for item in range(batch):
        for rows in _even_slices(queries, max(1, BLOCK_SCORES // keys)):
            yield slice(item, item + 1), rows


def _even_slices(length: int, limit: int) -> list[slice]:
    """Slices of `length` positions that differ by at most one, each of at most `limit`."""
    count = -(-length // limit)
    bounds = [length * i // count for i in range(count + 1)]
    return [slice(low, high) for low, high in pairwise(bounds)]
