"""Masked losses and the trade-off between features and labels (paper eq. 5, Appendix C.4).

n rows, d columns, e width of a column's token. Nothing here waits for the device or depends on how
many cells are scored.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from npt.nn.head import Head
from npt.nn.inputs import EncodedTable
from npt.nn.masking import Masked
from npt.nn.settings import NPTSettings


def feature_loss(
    head: Head,
    tokens: Tensor,
    truth: EncodedTable,
    scored: Tensor,
) -> Tensor:
    """Sum of cross-entropies in nats and squared errors over the cells `scored` (n, d).

    Tokens are (n, d, e); the target column is not scored.
    """
    total = head.target_layer()[0].new_zeros(())
    if any(head.layout.continuous):
        errors = (head.numbers(tokens) - truth.numbers).square()  # (n, d)
        total = torch.where(scored & truth.continuous, errors, 0).sum()
    for j, logits in head.logits(tokens):
        entropies = F.cross_entropy(logits, truth.codes[:, j], reduction="none")  # (n,)
        total = total + torch.where(scored[:, j], entropies, 0).sum()
    return total


def label_loss(
    head: Head,
    tokens: Tensor,
    truth: EncodedTable,
    scored: Tensor,
) -> Tensor:
    """Sum of the target's losses over the rows `scored` (n,), from its tokens (n, e).

    Cross-entropies, squared errors, or negative log-likelihoods of Gaussians.
    """
    if head.layout.gaussian:
        gaussians = head.gaussians(tokens[None])
        losses = -gaussians.log_densities(truth.numbers[:, truth.target])[0]
    elif head.layout.continuous[truth.target]:
        errors = head.target(tokens)[:, 0] - truth.numbers[:, truth.target]
        losses = errors.square()
    else:
        codes = truth.codes[:, truth.target]
        losses = F.cross_entropy(head.target(tokens), codes, reduction="none")
    return torch.where(scored, losses, 0).sum()


def training_loss(
    head: Head,
    tokens: Tensor,
    truth: EncodedTable,
    masked: Masked,
    tradeoff: float | Tensor,
) -> Tensor:
    """L = tradeoff * L_feature + (1 - tradeoff) * L_label, each a mean over its scored cells.

    A part without scored cells is 0.
    """
    loss = head.target_layer()[0].new_zeros(())
    varies = isinstance(tradeoff, Tensor)  # its value is not looked at, which would wait for it
    if varies or tradeoff > 0:
        total = feature_loss(head, tokens, truth, masked.features)
        loss = loss + tradeoff * total / masked.features.sum().clamp(min=1)
    if varies or tradeoff < 1:
        total = label_loss(head, tokens[:, head.layout.target_token], truth, masked.labels)
        loss = loss + (1 - tradeoff) * total / masked.labels.sum().clamp(min=1)
    return loss


def tradeoff(update: int, settings: NPTSettings) -> float:
    """Weight of the feature loss at update t = 1 .. T: cosine to nearly 0, or constant."""
    if settings.tradeoff == "constant":
        return settings.tradeoff_start
    progress = max(update - 2, 0) / settings.updates
    return settings.tradeoff_start * 0.5 * (1 + math.cos(math.pi * progress))
