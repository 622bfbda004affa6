"""AdamW, its learning rates, and the moving average of the weights, which alone is evaluated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel

from npt.compact.layers import by_member
from npt.compact.settings import CompactSettings

BETAS = (0.9, 0.98)
MOMENTS = ("exp_avg", "exp_avg_sq")
AVERAGE_WARMUP = 10  # updates after which about half of the average is of the latest weights


class Optimiser:
    """Updates the weights of a model and their average.

    Attributes:
        averaged: The same model with averaged weights.
        updates: Number of updates so far.
    """

    def __init__(self, model: nn.Module, settings: CompactSettings) -> None:
        self.settings = settings
        self.model = model
        self.parameters = list(model.parameters())
        self.averaged = AveragedModel(model, multi_avg_fn=self._average)
        self.updates = 0
        self._adamw = build_adamw(model, settings)
        scales = by_member(settings.rate_scale, settings.members)
        self._scales = torch.tensor(scales, device=self.parameters[0].device)
        self._at_one_rate = set(scales) == {1.0}

    def step(self, loss: Tensor) -> None:
        """One update down the sum of the members' losses, at the rate of its number."""
        self.updates += 1
        for group in self._adamw.param_groups:
            group["lr"] = learning_rate(self.updates, self.settings)
        self._adamw.zero_grad()
        loss.backward()
        bound = self.settings.clip * math.sqrt(self.settings.members)
        nn.utils.clip_grad_norm_(self.parameters, bound)
        self._step_of_members()
        self.averaged.update_parameters(self.model)

    @torch.no_grad()
    def _step_of_members(self) -> None:
        """A step of AdamW, of which each member takes the share of its rate."""
        if self._at_one_rate:
            self._adamw.step()
            return
        weights = [parameter.data for parameter in self.parameters]
        before = [weight.clone() for weight in weights]
        self._adamw.step()
        for earlier, weight in zip(before, weights, strict=True):
            others = [1] * (weight.dim() - 1)
            scales = self._scales.view(-1, *others)
            torch.lerp(earlier, weight, scales, out=weight)

    def _average(
        self,
        averaged: Sequence[Tensor],
        current: Sequence[Tensor],
        count: Tensor | int,
    ) -> None:
        """A moving average whose memory grows with the number of updates."""
        number = self.updates
        early = (1 + number) / (AVERAGE_WARMUP + number)
        decay = min(self.settings.weight_average, early)
        torch._foreach_lerp_(list(averaged), list(current), 1 - decay)

    def state(self) -> dict[str, Any]:
        """Tensors that later updates depend on, by name."""
        moments = {name: [] for name in MOMENTS}
        for parameter in self.parameters:
            of_parameter = self._adamw.state[parameter]
            for name in MOMENTS:
                # A parameter without a gradient, such as those of no categories, has none.
                moment = of_parameter.get(name)
                if moment is None:
                    moment = torch.zeros_like(parameter)
                moments[name].append(moment)
        averaged = [parameter.data for parameter in self.averaged.module.parameters()]
        weights = [parameter.data for parameter in self.parameters]
        return {
            "update": self.updates,
            "weights": weights,
            "averaged": averaged,
            **moments,
        }

    @torch.no_grad()
    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume from a `state`."""
        self.updates = saved["update"]
        for index, parameter in enumerate(self.parameters):
            device = parameter.device
            count = torch.tensor(float(self.updates), device=device)
            state = {"step": count}
            for name in MOMENTS:
                moment = saved[name][index]
                state[name] = moment.to(device)
            self._adamw.state[parameter] = state
            parameter.copy_(saved["weights"][index])
        averaged = self.averaged.module.parameters()
        for parameter, average in zip(averaged, saved["averaged"], strict=True):
            parameter.copy_(average)
        self.averaged.n_averaged.fill_(self.updates)


def build_adamw(model: nn.Module, settings: CompactSettings) -> AdamW:
    """AdamW with weight decay of matrices and of the embeddings of bins and levels."""
    decayed = []
    others = []
    for name, parameter in model.named_parameters():
        group = decayed if name.endswith("weight") else others
        group.append(parameter)
    groups = [
        {"params": decayed, "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return AdamW(
        groups,
        lr=settings.learning_rate,
        betas=BETAS,
        fused=True,
    )


def learning_rate(update: int, settings: CompactSettings) -> float:
    """Learning rate at update t = 1 .. T: a linear rise under a cosine to 0."""
    progress = update / settings.updates
    cosine = 0.5 * (1 + math.cos(math.pi * progress))
    rise = 1.0
    if settings.warmup > 0:
        rise = min(1.0, progress / settings.warmup)
    return settings.learning_rate * rise * cosine
