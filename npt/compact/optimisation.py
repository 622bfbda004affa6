"""AdamW, its learning rates, and the moving average of the weights, which alone is evaluated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw
from torch.optim.swa_utils import AveragedModel

from npt.compact.layers import by_member
from npt.compact.settings import CompactSettings

BETAS = (0.9, 0.98)
EPSILON = 1e-8
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
        self._decayed, self._others = by_decay(model)
        self._moments: dict[Tensor, Moments] = {}
        for parameter in self.parameters:
            self._moments[parameter] = Moments.of(parameter)
        scales = by_member(settings.rate_scale, settings.members)
        self._scales = torch.tensor(scales, device=self.parameters[0].device)
        self._at_one_rate = set(scales) == {1.0}

    def step(self, loss: Tensor) -> None:
        """One update down the sum of the members' losses, at the rate of its number."""
        self.updates += 1
        self.model.zero_grad()
        loss.backward()
        bound = self.settings.clip * math.sqrt(self.settings.members)
        nn.utils.clip_grad_norm_(self.parameters, bound)
        self._step_of_members()
        self.averaged.update_parameters(self.model)

    @torch.no_grad()
    def _step_of_members(self) -> None:
        """A step of AdamW, of which each member takes the share of its rate."""
        if self._at_one_rate:
            self._adamw()
            return
        weights = [parameter.data for parameter in self.parameters]
        before = [weight.clone() for weight in weights]
        self._adamw()
        for earlier, weight in zip(before, weights, strict=True):
            others = [1] * (weight.dim() - 1)
            scales = self._scales.view(-1, *others)
            torch.lerp(earlier, weight, scales, out=weight)

    def _adamw(self) -> None:
        """A step of AdamW at the rate of the update."""
        rate = learning_rate(self.updates, self.settings)
        groups = (
            (self._decayed, self.settings.weight_decay),
            (self._others, 0.0),
        )
        for parameters, weight_decay in groups:
            moved: list[Tensor] = []
            gradients: list[Tensor] = []
            for parameter in parameters:
                if parameter.grad is None:
                    continue  # such as the embedding of no categories
                moved.append(parameter)
                gradients.append(parameter.grad)
            moments = [self._moments[parameter] for parameter in moved]
            # The class of this function would import PyTorch's compiler, which takes a second.
            adamw(
                moved,
                gradients,
                [of_parameter.mean for of_parameter in moments],
                [of_parameter.square for of_parameter in moments],
                [],
                [of_parameter.updates for of_parameter in moments],
                lr=rate,
                beta1=BETAS[0],
                beta2=BETAS[1],
                weight_decay=weight_decay,
                eps=EPSILON,
                amsgrad=False,
                maximize=False,
                fused=True,
            )

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
        moments = [self._moments[parameter] for parameter in self.parameters]
        return {
            "update": self.updates,
            "weights": [parameter.data for parameter in self.parameters],
            "averaged": [parameter.data for parameter in self.averaged.module.parameters()],
            "means": [of_parameter.mean for of_parameter in moments],
            "squares": [of_parameter.square for of_parameter in moments],
        }

    @torch.no_grad()
    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume from a `state`."""
        self.updates = saved["update"]
        self.averaged.n_averaged.fill_(self.updates)
        moments = [self._moments[parameter] for parameter in self.parameters]
        for of_parameter in moments:
            of_parameter.updates.fill_(self.updates)
        restored = {
            "weights": self.parameters,
            "averaged": list(self.averaged.module.parameters()),
            "means": [of_parameter.mean for of_parameter in moments],
            "squares": [of_parameter.square for of_parameter in moments],
        }
        for name, tensors in restored.items():
            for tensor, earlier in zip(tensors, saved[name], strict=True):
                tensor.copy_(earlier)


@dataclass(frozen=True)
class Moments:
    """What AdamW keeps of a parameter.

    Attributes:
        mean: Moving average of the gradients, of the parameter's shape.
        square: Moving average of their squares.
        updates: Number of updates, a scalar.
    """

    mean: Tensor
    square: Tensor
    updates: Tensor

    @classmethod
    def of(cls, parameter: Tensor) -> Moments:
        """Those of a parameter before the first update."""
        return cls(
            mean=torch.zeros_like(parameter, requires_grad=False),
            square=torch.zeros_like(parameter, requires_grad=False),
            updates=torch.zeros((), device=parameter.device),
        )


def by_decay(model: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Parameters with weight decay (matrices, embeddings of bins and levels), and the others."""
    decayed = []
    others = []
    for name, parameter in model.named_parameters():
        group = decayed if name.endswith("weight") else others
        group.append(parameter)
    return decayed, others


def learning_rate(update: int, settings: CompactSettings) -> float:
    """Learning rate at update t = 1 .. T: a linear rise under a cosine to 0."""
    progress = update / settings.updates
    cosine = 0.5 * (1 + math.cos(math.pi * progress))
    rise = 1.0
    if settings.warmup > 0:
        rise = min(1.0, progress / settings.warmup)
    return settings.learning_rate * rise * cosine
