"""Masked losses with equal weight per scored cell, and the trade-off between features and labels (paper eq. 5, C.4)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from npt.cells import Encoded
from npt.masking import Masked
from npt.model import Head
from npt.settings import NPTSettings


def summed_loss(head: Head, tokens: torch.Tensor, truth: Encoded, scored: torch.Tensor) -> torch.Tensor:
    """Cross-entropy in nats plus squared error over the cells `scored` (n, d), from the tokens (n, d, e)."""
    numeric, classes = (scored & truth.continuous).nonzero(), (scored & ~truth.continuous).nonzero()
    total = tokens.new_zeros(())
    if len(numeric):
        row, column = numeric.unbind(1)
        total = total + (head.numbers(tokens[row, column], column) - truth.numbers[row, column]).square().sum()
    if len(classes):
        row, column = classes.unbind(1)
        aim = head.class_start[column] + truth.codes[row, column]
        total = total + F.cross_entropy(head.logits(tokens[row, column], column), aim, reduction="sum")
    return total


def training_loss(head: Head, tokens: torch.Tensor, truth: Encoded, masked: Masked, tradeoff: float) -> torch.Tensor:
    """L = tradeoff * L_feature + (1 - tradeoff) * L_label, each a mean over its scored cells, 0 if there are none."""
    loss = tokens.new_zeros(())
    for weight, scored in ((tradeoff, masked.features), (1 - tradeoff, masked.labels)):
        if weight > 0:
            loss = loss + weight * summed_loss(head, tokens, truth, scored) / scored.sum().clamp(min=1)
    return loss


def tradeoff(update: int, settings: NPTSettings) -> float:
    """Weight of the feature loss at update t = 1 .. T: cosine from its start to 0, or constant."""
    if settings.tradeoff == "constant":
        return settings.tradeoff_start
    progress = max(update - 2, 0) / settings.updates
    return settings.tradeoff_start * 0.5 * (1 + math.cos(math.pi * progress))
