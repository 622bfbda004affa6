"""Blocks of attention of compact NPT, K networks at once.

K members, n rows, m rows of the context, t tokens of a row, e and r widths of token and row.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from npt.compact.layers import RESIDUAL_SCALE, FeedForward, MemberLinear, normalised
from npt.compact.settings import CompactSettings
from npt.nn.kernels.attention import by_head

SHARPNESS = 1.4  # initial logarithm of the factor of scores between datapoints
LABEL_SCALE = 0.5  # standard deviation of the initial embedding of labels


class AttributeAttention(nn.Module):
    """Attention between the tokens of a row, then a feed-forward layer."""

    def __init__(self, settings: CompactSettings) -> None:
        super().__init__()
        members = settings.members
        width = settings.token_width
        self.heads = settings.heads
        self.attends = settings.between_attributes
        self.project = MemberLinear(members, width, 3 * width)
        self.merge = MemberLinear(members, width, width, RESIDUAL_SCALE)
        self.feed_forward = FeedForward(width, settings)

    def forward(self, tokens: Tensor) -> Tensor:
        """From (K, n, t, e) to the same shape."""
        if self.attends:
            members, rows, count, width = tokens.shape
            projected = self.project(normalised(tokens))
            projected = projected.view(members * rows, count, 3, self.heads, -1)
            queries, keys, values = projected.permute(2, 0, 3, 1, 4)  # (K * n, heads, t, e / heads)
            attended = functional.scaled_dot_product_attention(queries, keys, values)
            attended = attended.transpose(1, 2).reshape(members, rows, count, width)
            tokens = tokens + self.merge(attended)
        return self.feed_forward(tokens)


class DatapointAttention(nn.Module):
    """Attention of rows to the rows of a context, which show their labels, then a feed-forward
    layer.

    The context is a pair of keys and values. They are made of vectors without labels and of the
    labels, so that what a row shows never returns to it by way of another row.
    """

    def __init__(self, label_size: int, settings: CompactSettings) -> None:
        super().__init__()
        members = settings.members
        width = settings.width
        self.heads = settings.heads
        self.similarity = settings.similarity
        self.attends = settings.between_datapoints
        self.project = MemberLinear(members, width, width)
        self.value = MemberLinear(members, width, width)
        self.merge = MemberLinear(members, width, width, RESIDUAL_SCALE)
        sharpness = torch.full((members, self.heads, 1, 1), SHARPNESS)
        self.sharpness = nn.Parameter(sharpness)
        self.label = None
        if settings.labels_of_others:
            label = LABEL_SCALE * torch.randn(members, label_size, width)
            self.label = nn.Parameter(label)
        self.feed_forward = FeedForward(width, settings)

    def context(self, rows: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (K, heads, m, r / heads) of rows (K, m, r) with labels (m, C)."""
        normal = normalised(rows)
        keys = by_head(self.project(normal), self.heads)
        values = by_head(self.value(normal), self.heads)
        if self.label is not None:
            values = values + by_head(labels @ self.label, self.heads)
        return keys, values

    def forward(
        self,
        rows: Tensor,
        keys: Tensor,
        values: Tensor,
        invisible: Tensor | None = None,
    ) -> Tensor:
        """From (K, n, r) to the same shape.

        Args:
            invisible: Which rows of the context (n, m) a row does not attend to, in shapes that
                can be expanded to (K, heads, n, m).
        """
        if self.attends:
            weights = self.weights(rows, keys, invisible)
            attended = weights @ values
            attended = attended.transpose(1, 2).flatten(2)  # (K, n, r)
            rows = rows + self.merge(attended)
        return self.feed_forward(rows)

    def weights(
        self,
        rows: Tensor,
        keys: Tensor,
        invisible: Tensor | None = None,
    ) -> Tensor:
        """Attention (K, heads, n, m) of rows (K, n, r) to the context."""
        queries = by_head(self.project(normalised(rows)), self.heads)
        factor = self.sharpness.exp() / math.sqrt(queries.shape[-1])
        if self.similarity == "dot":
            scores = factor * queries @ keys.mT
        else:
            # Minus the squared distance, up to a term of the query that the softmax removes.
            squares = keys.square().sum(-1)[:, :, None]
            products = 2 * factor * queries @ keys.mT
            scores = products - factor * squares
        if invisible is not None:
            scores = scores.masked_fill(invisible, -math.inf)
        return scores.softmax(-1)
