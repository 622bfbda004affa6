"""Attention in one dimension with unit weights, where bounds and Jacobians are simple.

n positions x on a line, one head, all weights 1.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from npt.nn.lipschitz import second_moment

SPREAD = 3.0  # scale of the starts
RATE = 0.05


def bound(positions: int) -> float:
    """4 phi^-1(n - 1) + 1, the bound in the maximum norm."""
    numbers = torch.tensor(float(positions), dtype=torch.double)
    return 4 * second_moment(numbers).item() + 1


def by_distance(x: Tensor) -> Tensor:
    """L2 attention of positions (..., n)."""
    squares = (x[..., :, None] - x[..., None, :]).square()
    weights = (-squares).softmax(-1)
    return (weights @ x[..., None])[..., 0]


def by_product(x: Tensor) -> Tensor:
    """Dot-product attention of positions (..., n)."""
    weights = (x[..., :, None] * x[..., None, :]).softmax(-1)
    return (weights @ x[..., None])[..., 0]


def first_row_norm(others: Tensor) -> Tensor:
    """Absolute row sum of the Jacobian of L2 attention at a position 0.

    Args:
        others: The other positions (..., n - 1). A shift of all moves every output as far, so that
            the first position may be 0.
    """
    scores = torch.cat([torch.zeros_like(others[..., :1]), -others.square()], -1)
    weights = scores.softmax(-1)[..., 1:]  # (..., n - 1)
    output = (weights * others).sum(-1, keepdim=True)
    of_others = weights * (1 - 2 * others * (others - output))
    own = 1 - weights.sum(-1) + 2 * (weights * others * (others - output)).sum(-1)
    return own.abs() + of_others.abs().sum(-1)


def largest_norm(positions: int, restarts: int, steps: int, seed: int) -> float:
    """Largest maximum norm of the Jacobian of L2 attention that gradient ascent finds."""
    generator = torch.Generator().manual_seed(seed)
    shape = (restarts, positions - 1)
    uniform = torch.rand(restarts, 1, generator=generator, dtype=torch.double)
    starts = torch.randn(shape, generator=generator, dtype=torch.double) * SPREAD * uniform
    others = starts.requires_grad_()
    optimiser = torch.optim.Adam([others], lr=RATE)
    largest = 0.0
    for _ in range(steps):
        norms = first_row_norm(others)
        largest = max(largest, norms.max().item())
        optimiser.zero_grad()
        (-norms.sum()).backward()
        optimiser.step()
    return max(largest, first_row_norm(others).max().item())


def derivative_at_zero(attention: Callable[[Tensor], Tensor], t: float) -> float:
    """d y_1 / d x_1 at x = (0, t)."""
    x = torch.tensor([0.0, t], dtype=torch.double, requires_grad=True)
    (gradient,) = torch.autograd.grad(attention(x)[0], x)
    return gradient[0].item()


def maximum_norm(attention: Callable[[Tensor], Tensor], t: float) -> float:
    """Norm of the Jacobian at x = (0, t)."""
    x = torch.tensor([0.0, t], dtype=torch.double)
    jacobian = torch.autograd.functional.jacobian(attention, x)
    assert isinstance(jacobian, Tensor)
    return jacobian.abs().sum(-1).max().item()


def inversion_errors(
    residual: Callable[[Tensor], Tensor],
    x: Tensor,
    iterations: int,
) -> list[float]:
    """Largest error after 0, 1, ... fixed-point iterations that invert x + residual(x)."""
    y = x + residual(x)
    estimate = y
    errors = [(estimate - x).abs().max().item()]
    for _ in range(iterations):
        estimate = y - residual(estimate)
        errors.append((estimate - x).abs().max().item())
    return errors


def inputs_of_large_derivatives(positions: int, seed: int) -> Tensor:
    """Positions (n,): the first at 0 and the others far from it, where dot products are steep."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(positions, generator=generator, dtype=torch.double) * 10
    x[0] = 0.0
    return x
