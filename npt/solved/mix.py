"""How the solutions of all heads and ridges are mixed, and class scores sharpened."""

from __future__ import annotations

import torch
from torch import Tensor

SHARPNESS = (0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 13, 17)
STEPS = 30
CONTRAST = 6.0  # of the first weights
LARGEST_STEP = 8.0
SMALLEST = 1e-12
LEAST_SHARE = 1e-6  # of a class
PULLS = (2.0, 1.0, 5.0)  # of the weights' and the sharpness' logarithms, and of the bias


def stacked(residuals: Tensor, weights: Tensor) -> Tensor:
    """Weights (S,) on the simplex that make the mean squared residual small.

    Stacking (Wolpert 1992; Breiman 1996) by a few steps of exponentiated gradient, which leave
    weight on all solutions that are about as good as the best.

    Args:
        residuals: Leave-one-out residuals (S, m, C) of each solution.
        weights: (m,) of the rows.
    """
    scaled = (residuals * (weights / weights.sum()).sqrt()[:, None]).flatten(1)
    products = scaled @ scaled.T
    mix = torch.softmax(-CONTRAST * (products.diagonal() + SMALLEST).log(), 0)
    for _ in range(STEPS):
        gradient = products @ mix
        error = (mix @ gradient).clamp(min=SMALLEST)
        mix = mix * torch.exp(-(gradient / error).clamp(max=LARGEST_STEP))
        mix = mix / mix.sum()
    return mix


def sharpened(scores: Tensor, counts: Tensor, mix: Tensor) -> tuple[Tensor, float, Tensor]:
    """Mixture of class scores, its sharpness and a bias (C,) that make classes likely.

    Multinomial logistic regression on the leave-one-out scores, pulled to `mix` and its best
    sharpness, so that few rows change little.

    Args:
        scores: Leave-one-out scores (S, m, C) of each solution, minus the shares of the classes.
        counts: Weights (m, C) of the classes of each row.
        mix: Weights (S,) of a first mixture.
    """
    prior = log_shares(counts.sum(0) / counts.sum())
    mixed = torch.einsum("s,smc->mc", mix, scores)
    losses = [_loss(sharpness * mixed + prior, counts) for sharpness in SHARPNESS]
    first = torch.tensor(SHARPNESS[int(torch.stack(losses).argmin())]).to(mix).log()
    weights = (mix + 1e-3).log()
    start = [weights, first, torch.zeros_like(prior)]
    fitted = [value.clone().requires_grad_() for value in start]
    optimiser = torch.optim.LBFGS(fitted, max_iter=40, line_search_fn="strong_wolfe")

    def penalised() -> Tensor:
        optimiser.zero_grad()
        mixed = torch.einsum("s,smc->mc", fitted[0].softmax(0), scores)
        loss = _loss(fitted[1].exp() * mixed + prior + fitted[2], counts)
        for value, origin, pull in zip(fitted, start, PULLS, strict=True):
            loss = loss + pull * (value - origin).square().sum()
        loss.backward()
        return loss

    with torch.enable_grad():
        optimiser.step(penalised)
    weights, sharpness, bias = (value.detach() for value in fitted)
    return weights.softmax(0), float(sharpness.exp()), bias


def log_shares(shares: Tensor) -> Tensor:
    """Logarithms of the shares (C,) of classes, finite for those without rows."""
    return (shares + LEAST_SHARE).log()


def _loss(logits: Tensor, counts: Tensor) -> Tensor:
    return -(counts * logits.log_softmax(1)).sum()
