"""NPT as plainly as it can be written: the yardstick for `npt_step`, and an oracle for the fast one.

One linear layer per column, one-hot inputs as dense products, explicit softmax attention with every probability kept, Python
loops over the columns in mask and loss, LAMB one operation at a time over every tensor, and after every update an evaluation
pass each over validation, train and test rows. The equations are the paper's; nothing is shared with `npt` but the settings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from npt.nn.settings import NPTSettings


@dataclass(frozen=True)
class Columns:
    """A table as a list of columns: one-hot or standardised values (n, C_j), which are missing (n,), and each row's part."""

    values: Sequence[torch.Tensor]
    missing: Sequence[torch.Tensor]
    continuous: Sequence[bool]
    part: torch.Tensor
    target: int


class PlainBlock(nn.Module):
    """One attention block over x (batch, s, M)."""

    def __init__(self, width: int, settings: NPTSettings) -> None:
        super().__init__()
        self.heads, self.rate, self.hidden_rate = (
            settings.heads,
            settings.attention_dropout,
            settings.hidden_dropout,
        )
        self.norm_attention, self.norm_feed_forward = (
            nn.LayerNorm(width, eps=1e-12) for _ in range(2)
        )
        self.query, self.key, self.value, self.residual, self.mix = (
            nn.Linear(width, width) for _ in range(5)
        )
        self.widen = nn.Linear(width, settings.feed_forward * width)
        self.narrow = nn.Linear(settings.feed_forward * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention with a projected residual, then the feed-forward layers."""
        width = x.shape[-1]
        queries, keys, values = self.query(self.norm_attention(x)), self.key(x), self.value(x)
        split = [
            torch.cat(part.split(width // self.heads, 2), 0) for part in (queries, keys, values)
        ]
        scores = torch.softmax(split[0].bmm(split[1].transpose(1, 2)) / math.sqrt(width), 2)
        scores = F.dropout(scores, self.rate, self.training)
        mixed = self.mix(torch.cat(scores.bmm(split[2]).split(len(x), 0), 2))
        hidden = self.residual(x) + F.dropout(mixed, self.hidden_rate, self.training)
        widened = F.dropout(
            F.gelu(self.widen(self.norm_feed_forward(hidden))), self.hidden_rate, self.training
        )
        return hidden + F.dropout(self.narrow(widened), self.hidden_rate, self.training)


class PlainNPT(nn.Module):
    """The whole model, from a list of (n, C_j + 1) inputs to a list of (n, C_j) outputs."""

    def __init__(
        self, sizes: Sequence[int], continuous: Sequence[bool], settings: NPTSettings
    ) -> None:
        super().__init__()
        d, e = len(sizes), settings.width
        self.rate = settings.hidden_dropout
        self.inputs = nn.ModuleList(nn.Linear(size + 1, e) for size in sizes)
        self.outputs = nn.ModuleList(nn.Linear(e, size) for size in sizes)
        self.column_index = nn.Embedding(d, e)
        self.column_kind = nn.Embedding(2, e) if len(set(continuous)) == 2 else None
        self.kinds = [int(kind) for kind in continuous]
        self.blocks = nn.ModuleList(
            PlainBlock(e if layer % 2 else d * e, settings) for layer in range(settings.layers)
        )

    def forward(self, columns: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Embed, attend, decode, column by column."""
        embedded = torch.stack(
            [layer(column) for layer, column in zip(self.inputs, columns, strict=True)], 1
        )
        n, d, e = embedded.shape
        embedded = embedded + self.column_index(torch.arange(d, device=embedded.device))
        if self.column_kind is not None:
            embedded = embedded + self.column_kind(torch.tensor(self.kinds, device=embedded.device))
        x = F.dropout(embedded, self.rate, self.training)
        for layer, block in enumerate(self.blocks):
            x = block(x) if layer % 2 else block(x.reshape(1, n, d * e)).reshape(n, d, e)
        x = F.dropout(x, self.rate, self.training)
        return [layer(x[:, j]) for j, layer in enumerate(self.outputs)]


def masked(
    table: Columns, mode: int, settings: NPTSettings
) -> tuple[list[torch.Tensor], list[torch.Tensor], torch.Tensor]:
    """Inputs, the feature cells that count, and the targets that count, in mode 0 train, 1 validation or 2 test."""
    inputs, selected = [], []
    own = (table.part == mode) & ~table.missing[table.target]
    for j, (values, missing) in enumerate(zip(table.values, table.missing, strict=True)):
        values, hidden = values.clone(), missing.clone()
        chosen = torch.zeros_like(missing)
        if j == table.target:
            if settings.target_mask == 1:
                hidden = torch.ones_like(missing)
            elif mode == 0:
                hidden = hidden | (table.part > 0)
                chosen = (
                    torch.rand(len(values), device=values.device) < settings.target_mask
                ) & own
                own = chosen
            else:
                hidden = hidden | (table.part >= mode)
        elif mode == 0 and settings.feature_mask > 0:
            chosen = (
                torch.rand(len(values), device=values.device) < settings.feature_mask
            ) & ~missing
        randomised = chosen & (torch.rand(len(values), device=values.device) < 0.1)
        if table.continuous[j]:
            random = torch.randn_like(values)
        else:
            random = F.one_hot(
                torch.randint(values.shape[1], (len(values),), device=values.device),
                values.shape[1],
            ).to(values)
        values = torch.where(randomised[:, None], random, values)
        hidden = hidden | (chosen & ~randomised)
        values = torch.where(hidden[:, None], torch.zeros_like(values), values)
        inputs.append(torch.cat([values, hidden[:, None].to(values)], 1))
        selected.append(chosen if j != table.target else torch.zeros_like(chosen))
    return inputs, selected, own


def column_loss(
    output: torch.Tensor, values: torch.Tensor, rows: torch.Tensor, continuous: bool
) -> torch.Tensor:
    """Summed loss of the selected rows of one column."""
    if not rows.any():
        return output.sum() * 0
    if continuous:
        return (output[rows] - values[rows]).square().sum()
    return F.cross_entropy(output[rows], values[rows].argmax(1), reduction="sum")


def loss_of(
    outputs: Sequence[torch.Tensor],
    table: Columns,
    selected: Sequence[torch.Tensor],
    own: torch.Tensor,
    weight: float,
) -> torch.Tensor:
    """The trade-off of feature and label loss."""
    features, count = outputs[0].sum() * 0, 0
    for j, rows in enumerate(selected):
        if j != table.target:
            features = features + column_loss(
                outputs[j], table.values[j], rows, table.continuous[j]
            )
            count += int(rows.sum())
    t = table.target
    labels = column_loss(outputs[t], table.values[t], own, table.continuous[t]) / max(
        int(own.sum()), 1
    )
    return weight * features / max(count, 1) + (1 - weight) * labels


class PlainLamb:
    """LAMB inside Lookahead, tensor by tensor."""

    def __init__(self, model: nn.Module, settings: NPTSettings) -> None:
        self.parameters, self.settings, self.updates = list(model.parameters()), settings, 0
        self.first, self.second = ([torch.zeros_like(p) for p in self.parameters] for _ in range(2))
        self.slow = [p.detach().clone() for p in self.parameters]
        for parameter in self.parameters:
            parameter.register_hook(lambda gradient: gradient.clamp(-settings.clip, settings.clip))

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One update."""
        self.updates += 1
        for parameter, m, v, slow in zip(
            self.parameters, self.first, self.second, self.slow, strict=True
        ):
            gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            m.mul_(0.9).add_(gradient, alpha=0.1)
            v.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            move = m / v.sqrt().add(1e-6)
            weight_norm, move_norm = (
                parameter.pow(2).sum().sqrt().clamp(0, 10),
                move.pow(2).sum().sqrt(),
            )
            trust = 1.0 if weight_norm == 0 or move_norm == 0 else float(weight_norm / move_norm)
            parameter.add_(move, alpha=-learning_rate * trust)
            if self.updates % self.settings.lookahead_steps == 0:
                slow.add_(parameter - slow, alpha=self.settings.lookahead_share)
                parameter.copy_(slow)


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
    inputs, selected, own = masked(table, 0, settings)
    model.zero_grad()
    loss_of(model(inputs), table, selected, own, weight).backward()
    optimiser.step(learning_rate)


@torch.no_grad()
def plain_evaluation(model: PlainNPT, table: Columns, settings: NPTSettings) -> float:
    """A pass each over validation, train and test rows; the validation label loss."""
    model.eval()
    losses = []
    for mode in (1, 0, 2):
        inputs, _, own = masked(table, mode, settings)
        t = table.target
        loss = column_loss(model(inputs)[t], table.values[t], own, table.continuous[t])
        losses.append(float(loss) / max(int(own.sum()), 1))
    return losses[0]
