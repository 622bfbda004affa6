"""The NPT architecture (paper section 2 and Appendix C.1), to be read top to bottom.

B tables side by side, n rows, d columns with the target, e width of one column's embedding, k heads,
M width of an attention block (d * e between datapoints, e between attributes), C_j length of column j's encoding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from npt.attention import dot_product
from npt.cells import Cells
from npt.interface import Column
from npt.settings import NPTSettings


class Block(nn.Module):
    """Multi-head self-attention with a projected residual and LayerNorm on the query path, then a feed-forward block.

    Input and output are (..., s, M); attention runs over s.
    """

    def __init__(self, width: int, settings: NPTSettings) -> None:
        super().__init__()
        if width % settings.heads:
            raise ValueError(f"block width {width} is not a multiple of {settings.heads} heads")
        self.heads, self.scale, self.norm_all = settings.heads, width**-0.5, settings.layer_norm_on == "all"
        self.dropout = settings.attention_dropout
        self.norm_attention = nn.LayerNorm(width, eps=1e-12)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.residual, self.mix = nn.Linear(width, width), nn.Linear(width, width)
        self.norm_feed_forward = nn.LayerNorm(width, eps=1e-12)
        self.widen = nn.Linear(width, settings.feed_forward * width)
        self.narrow = nn.Linear(settings.feed_forward * width, width)
        self.activation = nn.GELU()
        self.drop = nn.Dropout(settings.hidden_dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attend over the second to last dimension, then apply the feed-forward block to every position."""
        normed = self.norm_attention(x)
        source = normed if self.norm_all else x
        queries, keys, values = self.query(normed), self.key(source), self.value(source)  # (..., s, M)
        attended = self._attend(queries, keys, values)  # (..., s, M)
        hidden = self.residual(x) + self.drop(self.mix(attended))  # (..., s, M)
        widened = self.drop(self.activation(self.widen(self.norm_feed_forward(hidden))))  # (..., s, 4 M)
        return hidden + self.drop(self.narrow(widened))  # (..., s, M)

    def _attend(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        split = [x.unflatten(-1, (self.heads, -1)).transpose(-2, -3) for x in (queries, keys, values)]  # (..., k, s, M / k)
        outputs = dot_product(*split, scale=self.scale, dropout=self.dropout if self.training else 0.0)
        return outputs.transpose(-2, -3).flatten(-2)  # (..., s, M)


@dataclass(frozen=True)
class Layout:
    """Where each column's classes lie in the fused embedding and head: sizes C_j, kinds and the target's position."""

    sizes: tuple[int, ...]
    continuous: tuple[bool, ...]
    target: int

    @classmethod
    def of(cls, columns: Sequence[Column], target: int) -> Layout:
        """The layout of a table's columns."""
        return cls(tuple(c.size for c in columns), tuple(c.kind == "continuous" for c in columns), target)

    @property
    def starts(self) -> tuple[int, ...]:
        """First class of every column in the fused head."""
        return tuple(sum(self.sizes[:j]) for j in range(len(self.sizes)))


class Embedding(nn.Module):
    """One linear layer C_j + 1 -> e per column, all in one weight: its classes' rows, then one row for the mask channel."""

    starts: torch.Tensor
    masks: torch.Tensor

    def __init__(self, layout: Layout, width: int) -> None:
        super().__init__()
        lengths = [size + 1 for size in layout.sizes]
        starts = [sum(lengths[:j]) for j in range(len(lengths))]
        self.weight = nn.Parameter(torch.empty(sum(lengths), width))
        self.bias = nn.Parameter(torch.empty(len(lengths), width))
        for j, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            bound = 1 / math.sqrt(length)
            nn.init.uniform_(self.weight.data[start : start + length], -bound, bound)
            nn.init.uniform_(self.bias.data[j], -bound, bound)
        self.register_buffer("starts", torch.tensor(starts), persistent=False)
        self.register_buffer("masks", torch.tensor(starts) + torch.tensor(layout.sizes), persistent=False)

    def forward(self, cells: Cells) -> torch.Tensor:
        """Embed every cell: (B, n, d) to (B, n, d, e)."""
        rows = nn.functional.embedding(cells.codes + self.starts, self.weight)  # (B, n, d, e)
        return rows * cells.scale[..., None] + self.weight[self.masks] * cells.mask[..., None] + self.bias


class Head(nn.Module):
    """One linear layer e -> C_j per column, all in one weight; outputs are made only for the cells asked for."""

    starts: torch.Tensor
    classes: torch.Tensor
    class_owner: torch.Tensor
    class_start: torch.Tensor

    def __init__(self, layout: Layout, width: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(width)
        self.layout = layout
        self.weight = nn.Parameter(torch.empty(sum(layout.sizes), width).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(sum(layout.sizes)).uniform_(-bound, bound))
        owner = [j for j, size in enumerate(layout.sizes) for _ in range(size)]
        classes = [row for row, j in enumerate(owner) if not layout.continuous[j]]
        first = [sum(row < start for row in classes) for start in layout.starts]
        self.register_buffer("starts", torch.tensor(layout.starts), persistent=False)
        self.register_buffer("classes", torch.tensor(classes, dtype=torch.long), persistent=False)
        self.register_buffer("class_owner", torch.tensor([owner[row] for row in classes]), persistent=False)
        self.register_buffer("class_start", torch.tensor(first), persistent=False)

    def numbers(self, tokens: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Standardised values (m,) of continuous cells, from their tokens (m, e) and columns (m,)."""
        rows = self.starts[columns]
        return (tokens * self.weight[rows]).sum(-1) + self.bias[rows]

    def logits(self, tokens: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Logits (m, all classes of all columns) of categorical cells; classes of other columns are -inf."""
        scores = nn.functional.linear(tokens, self.weight[self.classes], self.bias[self.classes])
        return scores.masked_fill(columns[:, None] != self.class_owner, -torch.inf)

    def target(self, tokens: torch.Tensor) -> torch.Tensor:
        """Outputs (..., C of the target) from the target column's tokens (..., e)."""
        start, size = self.layout.starts[self.layout.target], self.layout.sizes[self.layout.target]
        return nn.functional.linear(tokens, self.weight[start : start + size], self.bias[start : start + size])


class NPT(nn.Module):
    """Alternating attention between datapoints and between attributes over an embedded table."""

    kinds: torch.Tensor

    def __init__(self, layout: Layout, settings: NPTSettings) -> None:
        super().__init__()
        d, e = len(layout.sizes), settings.width
        self.layout = layout
        self.embedding, self.head = Embedding(layout, e), Head(layout, e)
        self.column_index = nn.Embedding(d, e)
        self.column_kind = nn.Embedding(2, e) if len(set(layout.continuous)) == 2 else None
        self.drop = nn.Dropout(settings.hidden_dropout)
        self.over_rows = _which_layers(settings)
        self.blocks = nn.ModuleList(Block(d * e if rows else e, settings) for rows in self.over_rows)
        self.register_buffer("kinds", torch.tensor(layout.continuous).long(), persistent=False)

    def forward(self, cells: Cells) -> torch.Tensor:
        """Tokens (B, n, d, e) of all cells; `head` turns them into predictions."""
        x = self.embedding(cells) + self.column_index.weight  # (B, n, d, e)
        if self.column_kind is not None:
            x = x + self.column_kind(self.kinds)  # (B, n, d, e)
        x = self.drop(x)
        for block, over_rows in zip(self.blocks, self.over_rows, strict=True):
            flat = x.flatten(-2) if over_rows else x.flatten(0, 1)  # (B, n, d e) or (B n, d, e)
            x = block(flat).view(x.shape)  # (B, n, d, e)
        return self.drop(x)

    def predict_target(self, cells: Cells) -> torch.Tensor:
        """Outputs (B, n, C of the target): logits, or the standardised value."""
        return self.head.target(self(cells)[..., self.layout.target, :])

    def segments(self) -> dict[nn.Parameter, torch.Tensor]:
        """Fused parameters and the column (rows,) that each of their rows belongs to: one LAMB tensor per column."""
        sizes = torch.tensor(self.layout.sizes)
        columns = torch.arange(len(sizes))
        return {
            self.embedding.weight: columns.repeat_interleave(sizes + 1),
            self.embedding.bias: columns,
            self.head.weight: columns.repeat_interleave(sizes),
            self.head.bias: columns.repeat_interleave(sizes),
        }


def _which_layers(settings: NPTSettings) -> list[bool]:
    """True for attention between datapoints; without one kind, the other's layers of the alternation remain."""
    alternating = [layer % 2 == 0 for layer in range(settings.layers)]
    if settings.between_datapoints and settings.between_attributes:
        return alternating
    kept = settings.between_datapoints
    return [kept] * max(1, settings.layers // 2)
