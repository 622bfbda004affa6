"""LAMB or Adam inside Lookahead, and the learning-rate schedules (paper Appendix C.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from npt.nn.settings import NPTSettings

BETAS = (0.9, 0.999)
EPSILON = 1e-6
NORM_CAP = 10.0
LOWEST_RATE = 1e-7


class Lamb:
    """LAMB (You et al. 2020) as in the paper: no bias correction or weight decay, capped norms.

    Args:
        segments: Row counts of the tensors that a parameter is fused of; each tensor has its own
            trust ratio.
        clip: Bound on the absolute value of the gradients' elements.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        segments: Mapping[nn.Parameter, Sequence[int]] | None = None,
        clip: float = math.inf,
    ) -> None:
        self.parameters = list(parameters)
        self.segments = segments or {}
        self.clip = clip
        self.first = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.second = [torch.zeros_like(parameter) for parameter in self.parameters]

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One update from the parameters' gradients, where a missing gradient is zero."""
        for parameter, first, second in zip(self.parameters, self.first, self.second, strict=True):
            if parameter.grad is None:
                gradient = torch.zeros_like(parameter)
            else:
                gradient = parameter.grad.clamp(-self.clip, self.clip)
            first.mul_(BETAS[0]).add_(gradient, alpha=1 - BETAS[0])
            second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
            step = first / (second.sqrt() + EPSILON)
            rows = self.segments.get(parameter, [len(parameter)])
            for weight, move in zip(parameter.split(rows), step.split(rows), strict=True):
                weight -= learning_rate * trust_ratio(weight.norm(), move.norm()) * move

    def state(self) -> dict[str, list[Tensor]]:
        """Tensors that later updates depend on, by name."""
        return {"first": self.first, "second": self.second}


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
        epsilon: float = EPSILON,
        weight_decay: float = 0.0,
        fused: bool | None = None,
    ) -> None:
        self.parameters = list(parameters)
        self.clip = clip
        self.betas = betas
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.fused = fused
        self.updates = 0
        self.first = [torch.zeros_like(parameter.data) for parameter in self.parameters]
        self.second = [torch.zeros_like(parameter.data) for parameter in self.parameters]
        device = self.parameters[0].device if fused else None
        self.steps = [torch.zeros((), device=device) for _ in self.parameters]

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One update from the parameters' gradients, where a missing gradient is zero."""
        self.updates += 1
        gradients = []
        for parameter in self.parameters:
            gradient = parameter.grad
            if gradient is None:
                gradient = torch.zeros_like(parameter)
            if self.clip < math.inf:
                gradient = gradient.clamp(-self.clip, self.clip)
            gradients.append(gradient)
        adam(
            [parameter.data for parameter in self.parameters],
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


def trust_ratio(norm: Tensor, step_norm: Tensor) -> Tensor:
    """min(|w|, 10) / |u|, or 1 where either norm is 0."""
    ratio = norm.clamp(max=NORM_CAP) / step_norm
    return torch.where((norm > 0) & (step_norm > 0), ratio, torch.ones_like(norm))


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
        optimiser: Lamb | Adam,
        steps: int,
        fraction: float,
        *,
        first_sync: bool = False,
    ) -> None:
        self.optimiser = optimiser
        self.steps = steps
        self.fraction = fraction
        self.first_sync = first_sync
        self.updates = 0
        self.slow = [parameter.detach().clone() for parameter in optimiser.parameters]

    @property
    def parameters(self) -> list[nn.Parameter]:
        """The fast weights."""
        return self.optimiser.parameters

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One update of the fast weights and, when due, of the slow ones."""
        self.optimiser.step(learning_rate)
        self.updates += 1
        if self.updates % self.steps == 0:
            self._synchronise()

    def _synchronise(self) -> None:
        fast = [parameter.data for parameter in self.parameters]
        if self.first_sync and self.updates == self.steps:
            torch._foreach_copy_(self.slow, fast)
            return
        torch._foreach_lerp_(self.slow, fast, self.fraction)
        torch._foreach_copy_(fast, self.slow)

    def state(self) -> dict[str, list[Tensor]]:
        """Tensors that later updates depend on, by name."""
        return {**self.optimiser.state(), "slow": self.slow}


def learning_rate(update: int, settings: NPTSettings) -> float:
    """Learning rate at update t = 1 .. T."""
    rate = settings.learning_rate
    total = settings.updates
    warmup = settings.schedule_share * total
    if settings.schedule == "flat_then_cosine":
        return _flat_then_cosine(update, total, rate, settings.schedule_share)
    if settings.schedule == "cosine_cyclic":
        return _cosine_cyclic(update - 1, rate, warmup)
    if settings.schedule == "polynomial":
        return _polynomial(update - 1, total, rate, warmup)
    return rate


def _flat_then_cosine(
    update: int,
    total: int,
    rate: float,
    flat_fraction: float,
) -> float:
    flat = flat_fraction * total
    annealed = int(total * (1 - flat_fraction))
    if update <= flat or annealed == 0:
        return rate
    return rate * 0.5 * (1 + math.cos(math.pi * (update - flat) / annealed))


def _polynomial(
    done: int,
    total: int,
    rate: float,
    warmup: float,
) -> float:
    """Linear warm-up, then a polynomial of degree 1 down to LOWEST_RATE."""
    if done < warmup:
        return rate * done / warmup
    if total == warmup:
        return rate
    return (rate - LOWEST_RATE) * (1 - (done - warmup) / (total - warmup)) + LOWEST_RATE


def _cosine_cyclic(
    done: int,
    rate: float,
    warmup: float,
) -> float:
    """Linear warm-up, then cosine cycles, each twice as long and half as high as the one before."""
    if done < warmup:
        return LOWEST_RATE + done * (rate - LOWEST_RATE) / warmup
    if warmup == 0:
        return rate
    cycle = math.floor(math.log2(1 + (done - warmup) / (2 * warmup)))
    length = 2**cycle * 2 * warmup
    since = done - warmup - (2**cycle - 1) * 2 * warmup
    cosine = 1 + math.cos(math.pi * since / length)
    return 0.5**cycle * (LOWEST_RATE + 0.5 * (rate - LOWEST_RATE) * cosine)
