"""AdamW, its learning rates, and the moving average of the weights, which alone is evaluated."""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn

from npt.compact.layers import by_member
from npt.compact.model import CompactNPT
from npt.compact.settings import CompactSettings
from npt.nn.optimiser import Adam

BETAS = (0.9, 0.98)
AVERAGE_WARMUP = 10  # updates after which about half of the average is of the latest weights


class Optimiser:
    """Updates the weights of a model and their average.

    Matrices and embeddings of bins and levels have weight decay.

    Attributes:
        averaged: The same model with averaged weights.
        averages: Its weights.
    """

    def __init__(self, model: CompactNPT, settings: CompactSettings) -> None:
        self.settings = settings
        self.model = model
        self.parameters = list(model.parameters())
        self.averaged = copy.deepcopy(model)
        self.averages = [parameter.data for parameter in self.averaged.parameters()]
        matrices = []
        others = []
        for name, parameter in model.named_parameters():
            group = matrices if name.endswith("weight") else others
            group.append(parameter)
        self._groups = [
            Adam(matrices, betas=BETAS, weight_decay=settings.weight_decay, fused=True),
            Adam(others, betas=BETAS, fused=True),
        ]
        scales = by_member(settings.rate_scale, settings.members)
        self._scales = torch.tensor(scales, device=self.parameters[0].device)

    def step(self, loss: Tensor, number: int) -> None:
        """Update `number` = 1 .. T, down the sum of the members' losses."""
        self.model.zero_grad()
        loss.backward()
        bound = self.settings.clip * math.sqrt(self.settings.members)
        nn.utils.clip_grad_norm_(self.parameters, bound)
        weights = [parameter.data for parameter in self.parameters]
        before = [weight.clone() for weight in weights]
        rate = learning_rate(number, self.settings)
        for group in self._groups:
            group.step(rate)
        for earlier, weight in zip(before, weights, strict=True):
            scales = self._scales.view(-1, *[1] * (weight.dim() - 1))
            torch.lerp(earlier, weight, scales, out=weight)  # each member's share of the step
        decay = 0.0  # the average begins with the first weights, its memory grows with the updates
        if number > 1:
            early = (1 + number) / (AVERAGE_WARMUP + number)
            decay = min(self.settings.weight_average, early)
        torch._foreach_lerp_(self.averages, weights, 1 - decay)

    def state(self) -> dict[str, list[Tensor]]:
        """Tensors that later updates depend on, by name."""
        matrices, others = (group.state() for group in self._groups)
        moments = {name: matrices[name] + others[name] for name in matrices}
        return {**moments, "averaged": self.averages}


def learning_rate(update: int, settings: CompactSettings) -> float:
    """Learning rate at update t = 1 .. T: a linear rise under a cosine to 0."""
    progress = update / settings.updates
    cosine = 0.5 * (1 + math.cos(math.pi * progress))
    rise = 1.0
    if settings.warmup > 0:
        rise = min(1.0, progress / settings.warmup)
    return settings.learning_rate * rise * cosine
