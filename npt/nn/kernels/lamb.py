"""LAMB in few passes over memory, which is what an optimiser is bound by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from npt.nn.optimiser import BETAS, EPSILON, Lamb, trust_ratio

LATE = 1e9  # the step at which Adam's bias corrections, 1 - beta^step, are one
FEW = 4
TOGETHER = 2**20  # elements that are updated together on a CPU: few calls, little scratch memory
ALIGNMENT = 16  # elements, for the addresses that vector instructions prefer

Groups = list[slice] | Tensor


class FusedLamb(Lamb):
    """`Lamb` by PyTorch's fused Adam kernel.

    Its moments are LAMB's at a step so late that its bias corrections are one.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        segments: Mapping[nn.Parameter, Sequence[int]] | None = None,
        clip: float = math.inf,
    ) -> None:
        super().__init__(parameters, segments, clip)
        self._row_groups = [_row_groups(p, self.segments.get(p)) for p in self.parameters]
        self._batches = _batches(self.parameters)
        sizes = [_aligned(p.numel()) for p in self.parameters]
        largest = max(sum(sizes[batch]) for batch in self._batches)
        self._scratch = self.parameters[0].new_empty(largest).detach()
        self._late = [torch.tensor(LATE, device=p.device) for p in self.parameters]

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One update; clamps the gradients in place."""
        for batch in self._batches:
            parameters = self.parameters[batch]
            gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
            _clip(gradients, self.clip)
            steps = self._zeros_like(parameters)  # from zero, Adam leaves minus the step in them
            torch._fused_adam_(
                steps,
                gradients,
                self.first[batch],
                self.second[batch],
                [],
                self._late[batch],
                lr=1.0,
                beta1=BETAS[0],
                beta2=BETAS[1],
                eps=EPSILON,
                weight_decay=0.0,
                amsgrad=False,
                maximize=False,
            )
            _add(parameters, steps, self._row_groups[batch], learning_rate)

    def _zeros_like(self, parameters: list[nn.Parameter]) -> list[Tensor]:
        """Zeros of the parameters' shapes, in memory that every step reuses."""
        sizes = [_aligned(p.numel()) for p in parameters]
        pieces = self._scratch[: sum(sizes)].zero_().split(sizes)
        zeros = []
        for piece, parameter in zip(pieces, parameters, strict=True):
            zeros.append(piece[: parameter.numel()].view(parameter.shape))
        return zeros


def _batches(parameters: list[nn.Parameter]) -> list[slice]:
    """Parameters updated together: on the CPU some, on a GPU all."""
    if not parameters[0].is_cpu:
        return [slice(None)]
    batches = []
    start = size = 0
    for index, parameter in enumerate(parameters):
        size += parameter.numel()
        is_last = index + 1 == len(parameters)
        if is_last or size + parameters[index + 1].numel() > TOGETHER:
            batches.append(slice(start, index + 1))
            start = index + 1
            size = 0
    return batches


def _aligned(count: int) -> int:
    return -(-count // ALIGNMENT) * ALIGNMENT


def _clip(gradients: list[Tensor], limit: float) -> None:
    """Clamp every element of every gradient to [-limit, limit]."""
    if limit == math.inf:
        return
    if gradients[0].is_cpu:
        for gradient in gradients:
            gradient.clamp_(-limit, limit)
    else:
        torch._foreach_clamp_max_(gradients, limit)
        torch._foreach_clamp_min_(gradients, -limit)


def _row_groups(parameter: nn.Parameter, sizes: Sequence[int] | None) -> Groups:
    """Slices of a parameter's rows, or for many groups a matrix (groups, rows) of zeros and ones.

    Sums over a group are then one product with the matrix, the same on every run.
    """
    if sizes is None:
        return [slice(None)]
    if len(sizes) > FEW:
        groups = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
        return nn.functional.one_hot(groups).T.to(parameter)
    slices = []
    start = 0
    for size in sizes:
        slices.append(slice(start, start + size))
        start += size
    return slices


def _add(
    parameters: list[nn.Parameter],
    steps: list[Tensor],
    row_groups: list[Groups],
    learning_rate: float,
) -> None:
    """Add the steps times learning rate and trust ratio, the latter by row group."""
    parts = []
    step_parts = []
    for parameter, step, groups in zip(parameters, steps, row_groups, strict=True):
        if isinstance(groups, Tensor):
            _add_by_matrix(parameter, step, groups, learning_rate)
        else:
            parts += [parameter[rows] for rows in groups]
            step_parts += [step[rows] for rows in groups]
    if not parts:
        return
    norms = torch.stack(torch._foreach_norm(parts))
    step_norms = torch.stack(torch._foreach_norm(step_parts))
    ratios = trust_ratio(norms, step_norms).unbind()
    for part, step, ratio in zip(parts, step_parts, ratios, strict=True):
        part.addcmul_(step, ratio, value=learning_rate)


def _add_by_matrix(
    parameter: nn.Parameter,
    step: Tensor,
    groups: Tensor,
    learning_rate: float,
) -> None:
    norms = torch.sqrt(groups @ _row_squares(parameter))
    step_norms = torch.sqrt(groups @ _row_squares(step))
    by_row = groups.T @ trust_ratio(norms, step_norms)
    ratios = by_row.reshape(-1, *(1,) * (parameter.ndim - 1))
    parameter.addcmul_(step, ratios, value=learning_rate)


def _row_squares(x: Tensor) -> Tensor:
    return x.reshape(len(x), -1).square().sum(1)
