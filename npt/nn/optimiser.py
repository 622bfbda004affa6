"""LAMB inside Lookahead, and the learning-rate schedules (paper Appendix C.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
from torch import nn

from npt.nn.settings import NPTSettings

BETAS = (0.9, 0.999)
EPSILON = 1e-6
NORM_CAP = 10.0
LATE = 1e9  # the step at which Adam's bias corrections, 1 - beta^step, are one
FEW = 4


class Lamb:
    """LAMB without bias correction or weight decay, the weight norm capped at 10 (You et al. 2020, as the paper ran it).

    Every element of every gradient is first clamped to [-clip, clip]. `segments` splits a fused parameter by rows: rows of
    equal number, which lie together, form one tensor with its own trust ratio.

    The moments are those of Adam at a step so late that its bias corrections are one: PyTorch's fused kernel then computes
    them and the update in one pass over memory, which is what this optimiser is bound by.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        segments: Mapping[nn.Parameter, torch.Tensor] | None = None,
        clip: float = math.inf,
    ) -> None:
        self.parameters, self.clip = list(parameters), clip
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        segments = segments or {}
        self.parts = [_parts(segments.get(p), p) for p in self.parameters]
        self.groups = _groups(self.parameters)
        most = max(
            sum(_aligned(p.numel()) for p in self.parameters[group]) for group in self.groups
        )
        self.scratch = torch.empty(
            most, dtype=self.parameters[0].dtype, device=self.parameters[0].device
        )
        self.late = [torch.tensor(LATE, device=p.device) for p in self.parameters]

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One update from the gradients at hand, which are clamped in place; a parameter without one has gradient zero."""
        for group in self.groups:
            parameters = self.parameters[group]
            gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
            clip_elements(gradients, self.clip)
            moves = self._zeros_like(
                parameters
            )  # from zero, so that minus the update is left in them
            torch._fused_adam_(
                moves, gradients, self.first[group], self.second[group], [], self.late[group], lr=1.0, beta1=BETAS[0],
                beta2=BETAS[1], eps=EPSILON, weight_decay=0.0, amsgrad=False, maximize=False,
            )  # fmt: skip
            _add(parameters, moves, self.parts[group], learning_rate)

    def _zeros_like(self, parameters: list[nn.Parameter]) -> list[torch.Tensor]:
        """Tensors of the parameters' shapes in memory that is used again, so that it is neither found nor cleared anew."""
        sizes = [_aligned(p.numel()) for p in parameters]
        used = self.scratch[: sum(sizes)].zero_().split(sizes)
        return [x[: p.numel()].view(p.shape) for x, p in zip(used, parameters, strict=True)]


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


def clip_elements(gradients: list[torch.Tensor], limit: float) -> None:
    """Clamp every element of every gradient to [-limit, limit]."""
    if limit == math.inf:
        return
    if gradients[0].is_cpu:
        for gradient in gradients:
            gradient.clamp_(-limit, limit)
    else:
        torch._foreach_clamp_max_(gradients, limit)
        torch._foreach_clamp_min_(gradients, -limit)


def learning_rate(update: int, settings: NPTSettings) -> float:
    """Learning rate used at update t = 1 .. T."""
    rate, total, share, u = (
        settings.learning_rate,
        settings.updates,
        settings.schedule_share,
        update - 1,
    )
    if settings.schedule == "constant":
        return rate
    if settings.schedule == "flat_then_cosine":
        flat, annealed = share * total, int(total * (1 - share))
        return (
            rate
            if update <= flat or annealed == 0
            else rate * 0.5 * (1 + math.cos(math.pi * (update - flat) / annealed))
        )
    warmup = share * total
    if settings.schedule == "cosine_cyclic":
        return _cosine_cyclic(u, rate, warmup)
    if u < warmup:
        return rate * u / warmup
    if total == warmup:
        return rate
    if settings.schedule == "linear_warmup":
        return rate * (total - u) / (total - warmup)
    return (rate - 1e-7) * (1 - (u - warmup) / (total - warmup)) + 1e-7


def _cosine_cyclic(u: int, rate: float, warmup: float, lowest: float = 1e-7) -> float:
    if u < warmup:
        return lowest + u * (rate - lowest) / warmup
    if warmup == 0:
        return rate
    cycle = math.floor(math.log2(1 + (u - warmup) / (2 * warmup)))
    length, since = 2**cycle * 2 * warmup, u - warmup - (2**cycle - 1) * 2 * warmup
    return 0.5**cycle * (lowest + 0.5 * (rate - lowest) * (1 + math.cos(math.pi * since / length)))


def _aligned(count: int) -> int:
    """Room for so many elements, up to an address that vector instructions like."""
    return -(-count // 16) * 16


Parts = list[slice] | torch.Tensor


def _parts(rows: torch.Tensor | None, parameter: nn.Parameter) -> Parts:
    """The tensors that a parameter is made of: slices of its rows where they are few, or else a (segments, rows) matrix.

    Sums over a segment are then one product with the matrix of zeros and ones, the same on every run.
    """
    if rows is None:
        return [slice(None)]
    ends = rows.bincount().cumsum(0).tolist()
    if len(ends) <= FEW:
        return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    return torch.nn.functional.one_hot(rows).T.to(parameter)


def _groups(parameters: list[nn.Parameter]) -> list[slice]:
    """Parameters updated together: all on a GPU, for few launches; one by one on the CPU, where each then stays in cache."""
    if parameters and parameters[0].is_cpu:
        return [slice(i, i + 1) for i in range(len(parameters))]
    return [slice(None)]


def _add(
    parameters: list[nn.Parameter],
    moves: list[torch.Tensor],
    parts: list[Parts],
    learning_rate: float,
) -> None:
    """Add the moves, each scaled to min(|w|, 10) * learning rate in length for every tensor of its parameter."""
    slices: list[tuple[torch.Tensor, torch.Tensor]] = []
    for parameter, move, part in zip(parameters, moves, parts, strict=True):
        if isinstance(part, torch.Tensor):
            weight, step = (
                torch.sqrt(part @ x.reshape(len(x), -1).square().sum(1)) for x in (parameter, move)
            )
            ratio = (part.T @ _trust(weight, step)).reshape(-1, *(1,) * (parameter.ndim - 1))
            parameter.addcmul_(move, ratio, value=learning_rate)
        else:
            slices += [(parameter[rows], move[rows]) for rows in part]
    if slices:
        weights, steps = (
            torch.stack(torch._foreach_norm(list(x))) for x in zip(*slices, strict=True)
        )
        for (own, step), ratio in zip(slices, _trust(weights, steps).unbind(), strict=True):
            own.addcmul_(step, ratio, value=learning_rate)


def _trust(weight: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
    """min(|w|, 10) / |u|, 1 where either norm is 0."""
    return torch.where(
        (weight > 0) & (step > 0), weight.clamp(max=NORM_CAP) / step, torch.ones_like(weight)
    )
