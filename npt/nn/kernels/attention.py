"""Attention kernels behind one signature: queries, keys and values (..., s, c), scale and dropout, to outputs (..., s, c).

On a GPU, PyTorch's fused kernels. On the CPU those have no dropout and are slow for short sequences, so there the
probabilities are made explicitly, in blocks that stay in the processor's cache; where all of them together would be large,
the backward pass makes them again, so that memory grows linearly with the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F

from npt.nn.kernels.dropout import Noise, share_kept, uncompiled

SHORT = 256
LANES = 16  # a softmax over a row of another length takes up to ten times as long
BLOCK_SCORES = 2**21
KEPT_SCORES = 2**24


@dataclass(frozen=True)
class AttentionDropout:
    """Dropout of attention probabilities: its rate, and what identifies its masks on the CPU."""

    rate: float
    noise: Noise
    site: int


def dot_product(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    *,
    scale: float,
    dropout: AttentionDropout | None = None,
    kept_scores: int = KEPT_SCORES,
) -> torch.Tensor:
    """softmax(Q K^T * scale) V (paper eq. 1), dropout on the probabilities.

    `scale` has no default: NPT divides by the root of the block's full width, not of a head's (paper Appendix C.1). Up to
    `kept_scores` probabilities are kept for the backward pass on the CPU; more are computed again.
    """
    if dropout is not None and dropout.rate == 0:
        dropout = None
    if not queries.is_cpu:
        return _on_gpu(queries, keys, values, scale, dropout.rate if dropout else 0.0)
    if dropout is None and keys.shape[-2] > SHORT:
        return F.scaled_dot_product_attention(queries, keys, values, scale=scale)
    return _on_cpu(queries, keys, values, scale, dropout, kept_scores)


def dot_product_of(
    present: torch.Tensor,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    *,
    scale: float,
) -> torch.Tensor:
    """The same over the keys (B, k, s, c) that are `present` (B, s) alone, without dropout; every table has one at least."""
    return _fused(queries, keys, values, attn_mask=present[:, None, None], scale=scale)


def _on_gpu(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float, rate: float
) -> torch.Tensor:
    """The fused kernels, for head widths they take; they refuse the many short sequences of attention between attributes."""
    if keys.shape[-2] <= SHORT and keys.ndim > 3 and len(keys) > 1:
        probabilities = (queries @ keys.transpose(-1, -2) * scale).softmax(-1)
        return F.dropout(probabilities, rate, rate > 0) @ values
    return _fused(queries, keys, values, dropout_p=rate, scale=scale)


def _fused(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, **options: Any
) -> torch.Tensor:
    """PyTorch's kernels, which on a GPU want head widths that are multiples of eight: others are padded."""
    width = values.shape[-1]
    queries, keys, values = (
        F.pad(x, (0, -width % 8)) if width % 8 and not x.is_cpu else x
        for x in (queries, keys, values)
    )
    return F.scaled_dot_product_attention(queries, keys, values, **options)[..., :width]


@uncompiled
def _on_cpu(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scale: float,
    dropout: AttentionDropout | None,
    kept_scores: int,
) -> torch.Tensor:
    """The explicit form, over one batch of short or long sequences."""
    asked, *others = (x.reshape(-1, *x.shape[-2:]) for x in (queries, keys, values))
    length = keys.shape[-2]
    if length <= SHORT:
        others = [F.pad(x, (0, 0, 0, -length % LANES)) for x in others]
    return _Explicit.apply(asked, *others, length, scale, dropout, kept_scores).view(queries.shape)  # type: ignore[union-attr]


class _Explicit(torch.autograd.Function):
    """Blockwise attention on the CPU over tensors (batch, s, c); of the keys and values the first `length` count."""

    @staticmethod
    def forward(
        ctx: Any,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        length: int,
        scale: float,
        dropout: AttentionDropout | None,
        kept_scores: int,
    ) -> torch.Tensor:
        outputs = torch.empty_like(queries, memory_format=torch.contiguous_format)
        blocks = list(_blocks(queries.shape[0], queries.shape[1], keys.shape[1]))
        keep = (
            any(ctx.needs_input_grad)
            and queries.shape[0] * queries.shape[1] * keys.shape[1] <= kept_scores
        )
        kept = []
        with torch.autocast("cpu", enabled=False):
            for part, (batch, rows) in enumerate(blocks):
                whole, shown = _probabilities(
                    queries[batch, rows], keys[batch], length, scale, dropout, part
                )
                _product(shown, values[batch], _rescale(dropout), outputs[batch, rows])
                kept += [whole, shown] if keep else []
        ctx.save_for_backward(queries, keys, values, outputs, *kept)
        ctx.length, ctx.scale, ctx.dropout, ctx.blocks = length, scale, dropout, blocks
        ctx.key = dropout.noise.key if dropout else 0
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        outgoing = gradients[0].contiguous()
        queries, keys, values, outputs, *kept = ctx.saved_tensors
        scale, dropout = ctx.scale, ctx.dropout
        to_queries = torch.empty_like(queries, memory_format=torch.contiguous_format)
        to_keys, to_values = (
            torch.zeros_like(x.transpose(1, 2), memory_format=torch.contiguous_format)
            for x in (keys, values)
        )
        inner = (outgoing * outputs).sum(
            -1, keepdim=True
        )  # of probabilities and their gradients, for every query
        for part, (batch, rows) in enumerate(ctx.blocks):
            asked, incoming = queries[batch, rows], outgoing[batch, rows]
            again = (asked, keys[batch], ctx.length, scale, dropout, part, ctx.key)
            whole, shown = kept[2 * part : 2 * part + 2] if kept else _probabilities(*again)
            scores = _product(incoming, values[batch].transpose(1, 2), _rescale(dropout))
            scores.mul_(shown).addcmul_(whole, inner[batch, rows], value=-1)
            _product(scores, keys[batch], scale, to_queries[batch, rows])
            # Wide and flat, (c, s), is the quicker way round for these.
            to_values[batch].baddbmm_(incoming.transpose(1, 2), shown, alpha=_rescale(dropout))
            to_keys[batch].baddbmm_(asked.transpose(1, 2), scores, alpha=scale)
        return (
            to_queries,
            to_keys.transpose(1, 2),
            to_values.transpose(1, 2),
            None,
            None,
            None,
            None,
        )


def _probabilities(
    queries: torch.Tensor,
    keys: torch.Tensor,
    length: int,
    scale: float,
    dropout: AttentionDropout | None,
    part: int,
    key: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Softmax of the scores, zero beyond `length`, and what dropout leaves of it."""
    scores = _product(queries, keys.transpose(1, 2), scale)
    scores[:, :, length:] = -torch.inf
    whole = (scores.float() if scores.dtype == torch.bfloat16 else scores).softmax(-1)
    if dropout is None:
        whole = whole.to(scores.dtype)
        return whole, whole
    shown = whole * dropout.noise.kept(whole.shape, dropout.rate, dropout.site, part, key).to(
        whole.dtype
    )
    return whole.to(scores.dtype), shown.to(scores.dtype)


def _product(
    left: torch.Tensor, right: torch.Tensor, factor: float, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Factor times left times right, without a pass of its own for the factor."""
    out = left.new_empty(*left.shape[:2], right.shape[2]) if out is None else out
    return torch.baddbmm(out, left, right, beta=0, alpha=factor, out=out)


def _rescale(dropout: AttentionDropout | None) -> float:
    return 1 / share_kept(dropout.rate) if dropout else 1.0


def _blocks(batch: int, queries: int, keys: int) -> Iterator[tuple[slice, slice]]:
    """Parts of the batch, or of one item's queries, with about BLOCK_SCORES scores each."""
    if queries * keys <= BLOCK_SCORES:
        for items in _cut(batch, BLOCK_SCORES // (queries * keys)):
            yield items, slice(0, queries)
    else:
        for item in range(batch):
            for rows in _cut(queries, max(1, BLOCK_SCORES // keys)):
                yield slice(item, item + 1), rows


def _cut(length: int, most: int) -> list[slice]:
    """Even slices of at most `most`."""
    count = -(-length // most)
    bounds = [length * i // count for i in range(count + 1)]
    return [slice(low, high) for low, high in pairwise(bounds)]
