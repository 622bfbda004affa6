"""LAMB or Adam inside Lookahead, and the learning-rate schedules (paper Appendix C.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from npt.nn.settings import NPTSettings

BETAS = (0.9, 0.999)
EPSILON = 1e-6  # of NPT's LAMB and Adam; elsewhere it is PyTorch's 1e-8
NORM_CAP = 10.0
LATE = 1e9  # a step at which Adam's bias corrections, 1 - beta^step, are one
LOWEST_RATE = 1e-7


class Adam:
    """Adam (Kingma and Ba 2015) or AdamW by PyTorch's function; its class is slow to import.

    Args:
        clip: Bound on the absolute value of the gradients' elements.
        weight_decay: Decoupled from the gradients.
        fused: Whether one kernel does all; None leaves it to PyTorch.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        clip: float = math.inf,
        *,
        betas: tuple[float, float] = BETAS,
        epsilon: float = 1e-8,
        weight_decay: float = 0.0,
        fused: bool | None = None,
    ) -> None:
        self.parameters = list(parameters)
        self.clip = clip
        self.betas = betas
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.fused = fused
        self.first = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.second = [torch.zeros_like(parameter) for parameter in self.parameters]
        device = self.parameters[0].device if fused else None
        self.steps = [torch.zeros((), device=device) for _ in self.parameters]

    @torch.no_grad()
    def step(self, learning_rate: float | Tensor) -> None:
        """One update from the parameters' gradients, where a missing gradient is zero."""
        self.move([parameter.data for parameter in self.parameters], learning_rate)

    def move(self, tensors: list[Tensor], learning_rate: float | Tensor) -> None:
        """Update the moments, and add the steps to tensors of the parameters' shapes."""
        gradients = []
        for parameter in self.parameters:
            has_none = parameter.grad is None
            gradients.append(torch.zeros_like(parameter) if has_none else parameter.grad)
        if self.clip < math.inf:
            torch._foreach_clamp_min_(gradients, -self.clip)
            torch._foreach_clamp_max_(gradients, self.clip)
        adam(
            tensors,
            gradients,
            self.first,
            self.second,
            [],
            self.steps,
            amsgrad=False,
            beta1=self.betas[0],
            beta2=self.betas[1],
            lr=learning_rate,
            weight_decay=self.weight_decay,
            decoupled_weight_decay=True,
            eps=self.epsilon,
            maximize=False,
            fused=self.fused,
        )

    def state(self) -> dict[str, list[Tensor]]:
        """Tensors that later updates depend on, by name."""
        return {"first": self.first, "second": self.second, "steps": self.steps}


class Lamb(Adam):
    """LAMB (You et al. 2020) as in the paper: no bias correction or weight decay, capped norms.

    Its moments are those of Adam at a step so late that the bias corrections are one.

    Args:
        segments: Row counts of the tensors that a parameter is fused of; each tensor has its own
            trust ratio.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        segments: Mapping[nn.Parameter, list[int]] | None = None,
        clip: float = math.inf,
    ) -> None:
        super().__init__(parameters, clip, epsilon=EPSILON, fused=True)
        segments = segments or {}
        self._sizes = [segments.get(p, [len(p)]) for p in self.parameters]
        self.steps = [torch.full_like(step, LATE) for step in self.steps]

    @torch.no_grad()
    def step(self, learning_rate: float | Tensor) -> None:
        """One update: Adam's steps u, times learning rate and trust ratio.

        The ratio is min(|w|, 10) / |u|, or 1 where either norm is 0.
        """
        steps = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.move(steps, 1.0)
        parts: list[Tensor] = []
        step_parts: list[Tensor] = []
        for parameter, step, sizes in zip(self.parameters, steps, self._sizes, strict=True):
            parts += parameter.split(sizes)
            step_parts += step.split(sizes)
        norms = torch.stack(torch._foreach_norm(parts))
        step_norms = torch.stack(torch._foreach_norm(step_parts))
        ratios = norms.clamp(max=NORM_CAP) / step_norms
        ratios = torch.where((norms == 0) | (step_norms == 0), 1.0, ratios)
        rate = 1.0
        if isinstance(learning_rate, Tensor):
            ratios = ratios * learning_rate
        else:
            rate = learning_rate
        for part, step, ratio in zip(parts, step_parts, ratios.unbind(), strict=True):
            part.addcmul_(step, ratio, value=rate)


class Lookahead:
    """Lookahead (Zhang et al. 2019).

    Every `steps` updates, slow weights move by `fraction` towards the fast ones, which restart
    there.

    Args:
        first_sync: The slow weights start at the first synchronisation, which then changes nothing;
            otherwise at the initial weights.
    """

    def __init__(
        self,
        optimiser: Adam,
        steps: int,
        fraction: float,
        *,
        first_sync: bool = False,
    ) -> None:
        self.optimiser = optimiser
        self.steps = steps
        self.fraction = fraction
        self.first_sync = first_sync
        self.slow = [parameter.detach().clone() for parameter in optimiser.parameters]

    @torch.no_grad()
    def moved(self, number: int) -> None:
        """Synchronise if it is due after update `number` of the fast weights."""
        if number % self.steps:
            return
        fast = [parameter.data for parameter in self.optimiser.parameters]
        if self.first_sync and number == self.steps:
            torch._foreach_copy_(self.slow, fast)
        else:
            torch._foreach_lerp_(self.slow, fast, self.fraction)
            torch._foreach_copy_(fast, self.slow)

    def state(self) -> dict[str, list[Tensor]]:
        """Tensors that later updates depend on, by name."""
        return {**self.optimiser.state(), "slow": self.slow}


def learning_rate(update: int, settings: NPTSettings) -> float:
    """Learning rate at update t = 1 .. T."""
    rate = settings.learning_rate
    total = settings.updates
    if settings.schedule == "constant":
        return rate
    if settings.schedule == "flat_then_cosine":
        flat = settings.schedule_share * total
        annealed = int(total * (1 - settings.schedule_share) + 1e-9)  # 1 - 0.9 is below 0.1
        if update <= flat or annealed == 0:
            return rate
        return rate * 0.5 * (1 + math.cos(math.pi * (update - flat) / annealed))
    warmup = settings.schedule_share * total
    done = update - 1
    if settings.schedule == "polynomial":  # of degree 1, down to LOWEST_RATE
        if done < warmup:
            return rate * done / warmup
        if total == warmup:
            return rate
        return (rate - LOWEST_RATE) * (1 - (done - warmup) / (total - warmup)) + LOWEST_RATE
    # Cosine cycles, each twice as long and half as high as the one before.
    if done < warmup:
        return LOWEST_RATE + done * (rate - LOWEST_RATE) / warmup
    if warmup == 0:
        return rate
    cycle = math.floor(math.log2(1 + (done - warmup) / (2 * warmup)))
    length = 2**cycle * 2 * warmup
    since = done - warmup - (2**cycle - 1) * 2 * warmup
    cosine = 1 + math.cos(math.pi * since / length)
    return 0.5**cycle * (LOWEST_RATE + 0.5 * (rate - LOWEST_RATE) * cosine)
