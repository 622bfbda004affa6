"""NPT written as plainly as possible: the yardstick of `npt_step`, and an oracle of the tests.

One linear layer per column, one-hot inputs as dense products, softmax attention with all
probabilities in memory, and Python loops over the columns. The equations are the paper's. Only
settings, masks and optimiser are those of the model. n rows, d columns, e width of a token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import EncodedTable, ModelInput
from npt.nn.masking import Masked
from npt.nn.settings import NPTSettings


class PlainBlock(nn.Module):
    """One attention block over x (batch, s, M)."""

    def __init__(
        self,
        width: int,
        settings: NPTSettings,
    ) -> None:
        super().__init__()
        self.width = width
        self.heads = settings.heads
        self.drop_attention = nn.Dropout(settings.attention_dropout)
        self.drop = nn.Dropout(settings.hidden_dropout)
        self.norm_attention = nn.LayerNorm(width, eps=1e-12)
        self.norm_feed_forward = nn.LayerNorm(width, eps=1e-12)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.residual = nn.Linear(width, width)
        self.mix = nn.Linear(width, width)
        self.widen = nn.Linear(width, settings.feed_forward * width)
        self.narrow = nn.Linear(settings.feed_forward * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Attention with a projected residual, then the feed-forward layers."""
        attended = self.drop(self.attend(x))
        hidden = self.residual(x) + attended  # (batch, s, M)
        normed = self.norm_feed_forward(hidden)
        widened = F.gelu(self.widen(normed))  # (batch, s, 4 M)
        narrowed = self.narrow(self.drop(widened))
        return hidden + self.drop(narrowed)  # (batch, s, M)

    def attend(self, x: Tensor) -> Tensor:
        """Multi-head self-attention over s; scores are scaled by the width of all heads."""
        normed = self.norm_attention(x)
        queries = self.by_head(self.query(normed))  # (batch, heads, s, M / heads)
        keys = self.by_head(self.key(x))
        values = self.by_head(self.value(x))
        weights = torch.softmax(queries @ keys.mT / math.sqrt(self.width), -1)
        attended = self.drop_attention(weights) @ values  # (batch, heads, s, M / heads)
        return self.mix(attended.transpose(1, 2).flatten(2))  # (batch, s, M)

    def by_head(self, x: Tensor) -> Tensor:
        """(batch, s, M) to (batch, heads, s, M / heads)."""
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)


class PlainNPT(nn.Module):
    """The whole model, from masked cells to a list of (n, C_j) outputs."""

    types: Tensor

    def __init__(self, layout: ColumnLayout, settings: NPTSettings) -> None:
        super().__init__()
        columns = len(layout.sizes)
        width = settings.width
        self.sizes = layout.sizes
        self.drop = nn.Dropout(settings.hidden_dropout)
        self.inputs = nn.ModuleList()
        self.outputs = nn.ModuleList()
        for size in layout.sizes:
            self.inputs.append(nn.Linear(size + 1, width))
            self.outputs.append(nn.Linear(width, size))
        self.column_index = nn.Embedding(columns, width)
        self.column_type = None
        if len(set(layout.continuous)) == 2:
            self.column_type = nn.Embedding(2, width)
        self.register_buffer("types", torch.tensor(layout.continuous).long(), persistent=False)
        self.blocks = nn.ModuleList()
        for _ in range(settings.layers // 2):
            self.blocks.append(PlainBlock(columns * width, settings))
            self.blocks.append(PlainBlock(width, settings))

    def forward(self, cells: ModelInput) -> list[Tensor]:
        """Embed, attend, decode, column by column; of one table."""
        x = self.drop(self.embed(cells))  # (n, d, e)
        for over_rows, over_columns in zip(self.blocks[::2], self.blocks[1::2], strict=True):
            rows = x.flatten(1)[None]  # (1, n, d e)
            x = over_rows(rows).reshape(x.shape)  # (n, d, e)
            x = over_columns(x)
        x = self.drop(x)
        decoded = zip(self.outputs, x.unbind(1), strict=True)
        return [layer(column) for layer, column in decoded]

    def embed(self, cells: ModelInput) -> Tensor:
        """Embedding (n, d, e) of values, column index and column type."""
        values = []
        for column, (layer, size) in enumerate(zip(self.inputs, self.sizes, strict=True)):
            codes, scale, mask = (x[0, :, column] for x in cells)
            visible = F.one_hot(codes, size) * scale[:, None]  # (n, C_j)
            values.append(layer(torch.cat([visible, mask[:, None]], 1)))
        embedded = torch.stack(values, 1) + self.column_index.weight
        if self.column_type is not None:
            embedded = embedded + self.column_type(self.types)
        return embedded


def plain_loss(
    outputs: Sequence[Tensor],
    truth: EncodedTable,
    masked: Masked,
    weight: float,
) -> Tensor:
    """Mean feature loss with `weight`, mean label loss with the rest."""
    features = outputs[0].sum() * 0
    for column in range(len(truth.sizes)):
        features = features + column_loss(outputs, truth, column, masked.features[:, column])
    labels = column_loss(outputs, truth, truth.target, masked.labels)
    feature_count = max(int(masked.features.sum()), 1)
    label_count = max(int(masked.labels.sum()), 1)
    return weight * features / feature_count + (1 - weight) * labels / label_count


def column_loss(
    outputs: Sequence[Tensor],
    truth: EncodedTable,
    column: int,
    scored: Tensor,
) -> Tensor:
    """Sum of the squared errors or cross-entropies of a column's scored rows (n,)."""
    predictions = outputs[column][scored]
    if truth.continuous[column]:
        errors = predictions[:, 0] - truth.numbers[scored, column]
        return errors.square().sum()
    return F.cross_entropy(predictions, truth.codes[scored, column], reduction="sum")
