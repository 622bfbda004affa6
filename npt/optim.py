"""LAMB inside Lookahead, and the learning-rate schedules (paper Appendix C.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
from torch import nn

from npt.settings import NPTSettings

BETAS = (0.9, 0.999)
EPSILON = 1e-6
NORM_CAP = 10.0


class Lamb:
    """LAMB without bias correction or weight decay, the weight norm capped at 10 (You et al. 2020, as the paper ran it).

    `segments` splits a fused parameter by rows: rows of equal number form one tensor with its own trust ratio.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], segments: Mapping[nn.Parameter, torch.Tensor] | None = None) -> None:
        self.parameters = list(parameters)
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        segments = segments or {}
        self.members = [_membership(segments[p], p) if p in segments else None for p in self.parameters]

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One update from the gradients at hand; a parameter without a gradient has gradient zero."""
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters]
        torch._foreach_mul_(self.first, BETAS[0])
        torch._foreach_add_(self.first, gradients, alpha=1 - BETAS[0])
        torch._foreach_mul_(self.second, BETAS[1])
        torch._foreach_addcmul_(self.second, gradients, gradients, value=1 - BETAS[1])
        roots = torch._foreach_sqrt(self.second)
        torch._foreach_add_(roots, EPSILON)
        moves = torch._foreach_div(self.first, roots)
        for parameter, move, members in zip(self.parameters, moves, self.members, strict=True):
            parameter.addcmul_(move, _trust(parameter, move, members), value=-learning_rate)


class Lookahead:
    """Every `steps` updates the slow weights go `share` of the way to the fast ones, which restart there (Zhang 2019)."""

    def __init__(self, optimiser: Lamb, steps: int, share: float) -> None:
        self.optimiser, self.steps, self.share = optimiser, steps, share
        self.slow = [p.detach().clone() for p in optimiser.parameters]
        self.updates = 0

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One update of the fast weights and, when due, of the slow ones."""
        self.optimiser.step(learning_rate)
        self.updates += 1
        if self.updates % self.steps == 0:
            fast = [p.data for p in self.optimiser.parameters]
            torch._foreach_lerp_(self.slow, fast, self.share)
            torch._foreach_copy_(fast, self.slow)


def clip_elements(parameters: Iterable[nn.Parameter], limit: float) -> None:
    """Clamp every element of every gradient to [-limit, limit]."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    if not gradients:
        return
    torch._foreach_clamp_max_(gradients, limit)
    torch._foreach_clamp_min_(gradients, -limit)


def learning_rate(update: int, settings: NPTSettings) -> float:
    """Learning rate used at update t = 1 .. T."""
    rate, total, share, u = settings.learning_rate, settings.updates, settings.schedule_share, update - 1
    if settings.schedule == "constant":
        return rate
    if settings.schedule == "flat_then_cosine":
        flat, annealed = share * total, int(total * (1 - share))
        return rate if update <= flat or annealed == 0 else rate * 0.5 * (1 + math.cos(math.pi * (update - flat) / annealed))
    warmup = share * total
    if settings.schedule == "cosine_cyclic":
        return _cosine_cyclic(u, rate, warmup)
    if u < warmup:
        return rate * u / warmup
    if settings.schedule == "linear_warmup" or total == warmup:
        return rate
    return (rate - 1e-7) * (1 - (u - warmup) / (total - warmup)) + 1e-7


def _cosine_cyclic(u: int, rate: float, warmup: float, lowest: float = 1e-7) -> float:
    if u < warmup:
        return lowest + u * (rate - lowest) / warmup
    if warmup == 0:
        return rate
    cycle = math.floor(math.log2(1 + (u - warmup) / (2 * warmup)))
    length, since = 2**cycle * 2 * warmup, u - warmup - (2**cycle - 1) * 2 * warmup
    return 0.5**cycle * (lowest + 0.5 * (rate - lowest) * (1 + math.cos(math.pi * since / length)))


def _membership(rows: torch.Tensor, parameter: nn.Parameter) -> torch.Tensor:
    """(segments, rows) of zeros and ones: sums over a segment are one product, the same on every run."""
    return torch.nn.functional.one_hot(rows).T.to(parameter)


def _trust(parameter: torch.Tensor, move: torch.Tensor, members: torch.Tensor | None) -> torch.Tensor:
    """min(|w|, 10) / |u| per tensor, 1 where either norm is 0; shaped to multiply `move`."""
    if members is None:
        weight, step = torch.linalg.vector_norm(parameter), torch.linalg.vector_norm(move)
    else:
        weight, step = (torch.sqrt(members @ x.flatten(1).square().sum(1)) for x in _as_rows(parameter, move))
    ratio = torch.where((weight > 0) & (step > 0), weight.clamp(max=NORM_CAP) / step, torch.ones_like(weight))
    if members is None:
        return ratio
    return (members.T @ ratio).reshape(-1, *(1,) * (parameter.ndim - 1))


def _as_rows(*tensors: torch.Tensor) -> list[torch.Tensor]:
    return [x if x.ndim > 1 else x[:, None] for x in tensors]
