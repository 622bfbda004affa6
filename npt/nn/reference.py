"""NPT written as plainly as possible: the yardstick of `npt_step`, and an oracle for the fast
implementation.

One linear layer per column, one-hot inputs as dense products, softmax attention with all
probabilities in memory, Python loops over the columns in masking and loss, LAMB tensor by tensor,
and after every update an evaluation pass each over validation, train and test rows. The equations
are the paper's. Nothing is shared with `npt` but the settings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from npt.nn.reference_masking import TEST, TRAIN, VALIDATION, Columns, MaskedColumns, masked
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
        self.attention_rate = settings.attention_dropout
        self.hidden_rate = settings.hidden_dropout
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
        queries = self.by_head(self.query(normed))  # (heads * batch, s, M / heads)
        keys = self.by_head(self.key(x))
        values = self.by_head(self.value(x))
        products = queries.bmm(keys.mT)  # (heads * batch, s, s)
        weights = torch.softmax(products / math.sqrt(self.width), 2)
        dropped = F.dropout(weights, self.attention_rate, self.training)
        attended = dropped.bmm(values)  # (heads * batch, s, M / heads)
        by_head = attended.split(len(x))
        return self.mix(torch.cat(by_head, 2))  # (batch, s, M)

    def by_head(self, x: Tensor) -> Tensor:
        """The heads' parts of x, one behind another in the batch."""
        parts = x.split(self.width // self.heads, 2)
        return torch.cat(parts)

    def drop(self, x: Tensor) -> Tensor:
        """Hidden dropout."""
        return F.dropout(x, self.hidden_rate, self.training)


class PlainNPT(nn.Module):
    """The whole model, from a list of (n, C_j + 1) inputs to a list of (n, C_j) outputs."""

    index: Tensor
    types: Tensor

    def __init__(
        self,
        sizes: Sequence[int],
        continuous: Sequence[bool],
        settings: NPTSettings,
    ) -> None:
        super().__init__()
        columns = len(sizes)
        width = settings.width
        self.rate = settings.hidden_dropout
        self.inputs = nn.ModuleList()
        self.outputs = nn.ModuleList()
        for size in sizes:
            self.inputs.append(nn.Linear(size + 1, width))
            self.outputs.append(nn.Linear(width, size))
        self.column_index = nn.Embedding(columns, width)
        self.column_type = None
        if len(set(continuous)) == 2:
            self.column_type = nn.Embedding(2, width)
        self.register_buffer("index", torch.arange(columns), persistent=False)
        self.register_buffer("types", torch.tensor(continuous).long(), persistent=False)
        self.blocks = nn.ModuleList()
        for _ in range(settings.layers // 2):
            self.blocks.append(PlainBlock(columns * width, settings))
            self.blocks.append(PlainBlock(width, settings))

    def forward(self, columns: Sequence[Tensor]) -> list[Tensor]:
        """Embed, attend, decode, column by column."""
        x = self.drop(self.embed(columns))  # (n, d, e)
        for over_rows, over_columns in zip(self.blocks[::2], self.blocks[1::2], strict=True):
            rows = x.flatten(1)[None]  # (1, n, d e)
            x = over_rows(rows).reshape(x.shape)  # (n, d, e)
            x = over_columns(x)
        x = self.drop(x)
        decoded = zip(self.outputs, x.unbind(1), strict=True)
        return [layer(column) for layer, column in decoded]

    def embed(self, columns: Sequence[Tensor]) -> Tensor:
        """Embedding (n, d, e) of values, column index and column type."""
        layers = zip(self.inputs, columns, strict=True)
        values = [layer(column) for layer, column in layers]
        embedded = torch.stack(values, 1)
        embedded = embedded + self.column_index(self.index)
        if self.column_type is not None:
            embedded = embedded + self.column_type(self.types)
        return embedded

    def drop(self, x: Tensor) -> Tensor:
        """Hidden dropout."""
        return F.dropout(x, self.rate, self.training)


def column_loss(
    output: Tensor,
    values: Tensor,
    rows: Tensor,
    continuous: bool,
) -> Tensor:
    """Summed loss of the selected rows of one column."""
    if not rows.any():
        return output.sum() * 0
    predictions = output[rows]
    truth = values[rows]
    if continuous:
        return F.mse_loss(predictions, truth, reduction="sum")
    return F.cross_entropy(predictions, truth.argmax(1), reduction="sum")


def plain_loss(
    outputs: Sequence[Tensor],
    table: Columns,
    cells: MaskedColumns,
    weight: float,
) -> Tensor:
    """Feature loss with `weight`, label loss with the rest."""
    features = outputs[0].sum() * 0
    count = 0
    for column, rows in enumerate(cells.features):
        features = features + column_loss(
            outputs[column],
            table.values[column],
            rows,
            table.continuous[column],
        )
        count += int(rows.sum())
    labels = label_loss(outputs, table, cells)
    return weight * features / max(count, 1) + (1 - weight) * labels


def label_loss(
    outputs: Sequence[Tensor],
    table: Columns,
    cells: MaskedColumns,
) -> Tensor:
    """Mean loss of the targets that count."""
    target = table.target
    loss = column_loss(
        outputs[target],
        table.values[target],
        cells.labels,
        table.continuous[target],
    )
    count = int(cells.labels.sum())
    return loss / max(count, 1)


class PlainLamb:
    """LAMB inside Lookahead, tensor by tensor."""

    def __init__(
        self,
        model: nn.Module,
        settings: NPTSettings,
    ) -> None:
        self.settings = settings
        self.parameters = list(model.parameters())
        self.updates = 0
        self.first = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.second = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.slow = [parameter.detach().clone() for parameter in self.parameters]
        for parameter in self.parameters:
            parameter.register_hook(self._clipped)

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One update."""
        self.updates += 1
        for index, parameter in enumerate(self.parameters):
            gradient = parameter.grad
            if gradient is None:
                gradient = torch.zeros_like(parameter)
            first = self.first[index]
            second = self.second[index]
            first.mul_(0.9).add_(gradient, alpha=0.1)
            second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            move = first / second.sqrt().add(1e-6)
            parameter.add_(move, alpha=-learning_rate * trust_ratio(parameter, move))
            if self.updates % self.settings.lookahead_steps == 0:
                slow = self.slow[index]
                slow.lerp_(parameter, self.settings.lookahead_share)
                parameter.copy_(slow)

    def _clipped(self, gradient: Tensor) -> Tensor:
        limit = self.settings.clip
        return gradient.clamp(-limit, limit)


def trust_ratio(parameter: Tensor, move: Tensor) -> float:
    """Norm of the weights, at most 10, over the norm of their update; 1 where one of them is 0."""
    weight_norm = parameter.norm().clamp(0, 10)
    move_norm = move.norm()
    if weight_norm == 0 or move_norm == 0:
        return 1.0
    return float(weight_norm / move_norm)


def plain_update(
    model: PlainNPT,
    optimiser: PlainLamb,
    table: Columns,
    settings: NPTSettings,
    weight: float,
    learning_rate: float,
) -> None:
    """Mask, forward, backward, step."""
    model.train()
    cells = masked(table, TRAIN, settings)
    model.zero_grad()
    plain_loss(model(cells.inputs), table, cells, weight).backward()
    optimiser.step(learning_rate)


@torch.no_grad()
def plain_evaluation(
    model: PlainNPT,
    table: Columns,
    settings: NPTSettings,
) -> float:
    """A pass each over validation, train and test rows; the validation label loss."""
    model.eval()
    losses = {}
    for mode in (VALIDATION, TRAIN, TEST):
        cells = masked(table, mode, settings)
        outputs = model(cells.inputs)
        losses[mode] = float(label_loss(outputs, table, cells))
    return losses[VALIDATION]
