"""Attention in one dimension with unit weights, where bounds and Jacobians are simple.

n positions x on a line, one head, all weights 1.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from npt.nn.lipschitz import attention_bound

SPREAD = 3.0  # largest scale of the starts
FAR = 10.0  # scale of positions at which dot products are steep
RATE = 0.05
Map = Callable[[Tensor], Tensor]


def bound(positions: int) -> float:
    """4 phi^-1(n - 1) + 1, the bound in the maximum norm."""
    weight = torch.ones(1, 1, 1).double()
    return attention_bound(weight, weight, weight[0], positions, scale=1.0).item()


def by_distance(x: Tensor) -> Tensor:
    """L2 attention of positions (n,)."""
    differences = x[:, None] - x  # (n, n)
    scores = -differences.square()
    return scores.softmax(-1) @ x


def by_product(x: Tensor) -> Tensor:
    """Dot-product attention of positions (n,)."""
    scores = x[:, None] * x  # (n, n)
    return scores.softmax(-1) @ x


def first_row_norm(others: Tensor) -> Tensor:
    """Absolute row sum of the Jacobian of L2 attention at a position 0.

    Args:
        others: The other positions (..., n - 1). A shift of all moves every output as far, so that
            the first position may be 0.
    """
    scores = torch.cat([torch.zeros_like(others[..., :1]), -others.square()], -1)  # (..., n)
    probabilities = scores.softmax(-1)
    weights = probabilities[..., 1:]  # (..., n - 1)
    output = torch.sum(weights * others, -1, keepdim=True)
    slopes = 2 * others * (others - output)
    by_others = weights * (1 - slopes)
    by_first = probabilities[..., 0] + torch.sum(weights * slopes, -1)
    return by_first.abs() + by_others.abs().sum(-1)


def largest_norm(positions: int, restarts: int, steps: int, seed: int) -> float:
    """Largest maximum norm of the Jacobian of L2 attention that gradient ascent finds."""
    generator = torch.Generator().manual_seed(seed)
    scales = SPREAD * torch.rand(restarts, 1, generator=generator)
    normal = torch.randn(restarts, positions - 1, generator=generator)
    others = torch.mul(scales, normal).double().requires_grad_()
    optimiser = torch.optim.Adam([others], lr=RATE)
    largest = 0.0
    for _ in range(steps):
        norms = first_row_norm(others)
        highest = norms.max().item()
        largest = max(largest, highest)
        optimiser.zero_grad()
        loss = -norms.sum()
        loss.backward()
        optimiser.step()
    return largest


def derivative_at_zero(attention: Map, t: float) -> float:
    """d y_1 / d x_1 at x = (0, t)."""
    return float(_jacobian(attention, t)[0, 0])


def maximum_norm(attention: Map, t: float) -> float:
    """Norm of the Jacobian at x = (0, t)."""
    rows = _jacobian(attention, t).abs().sum(-1)
    return float(rows.max())


def _jacobian(attention: Map, t: float) -> Tensor:
    x = torch.tensor([0.0, t]).double()
    jacobian = torch.autograd.functional.jacobian(attention, x)
    assert isinstance(jacobian, Tensor)
    return jacobian


def inversion_errors(residual: Map, x: Tensor, iterations: int) -> list[float]:
    """Largest error after 0, 1, ... fixed-point iterations that invert x + residual(x)."""
    y = x + residual(x)
    estimate = y
    errors: list[float] = []
    for _ in range(iterations + 1):
        errors.append(float((estimate - x).abs().max()))
        estimate = y - residual(estimate)
    return errors


def inputs_of_large_derivatives(positions: int, seed: int) -> Tensor:
    """Positions (n,): the first at 0 and the others far from it, where dot products are steep."""
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(positions, generator=generator)
    x = FAR * normal.double()
    x[0] = 0.0
    return x
