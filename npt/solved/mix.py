"""How the solutions of all heads and ridges are mixed, and class scores sharpened."""

from __future__ import annotations

import torch

SHARPNESS = (0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 13, 17)
STEPS = 30
CONTRAST = 6.0  # of the first weights
LARGEST_STEP = 8.0
SMALLEST = 1e-12
LEAST_SHARE = 1e-6  # of a class


def mixture(residuals: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
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


def logits(scores: torch.Tensor, shares: torch.Tensor, sharpness: float) -> torch.Tensor:
    """Logits (n, C) of classes.

    Args:
        scores: (n, C) predictions of one-hot targets.
        shares: (C,) of the classes in the context.
    """
    return sharpness * (scores - shares) + (shares + LEAST_SHARE).log()


def best_sharpness(scores: torch.Tensor, counts: torch.Tensor) -> float:
    """The sharpness with the smallest negative log-likelihood.

    Args:
        scores: Leave-one-out scores (m, C).
        counts: Weights (m, C) of the classes of each row.
    """
    shares = counts.sum(0) / counts.sum()
    losses = []
    for sharpness in SHARPNESS:
        likelihoods = logits(scores, shares, sharpness).log_softmax(1)
        losses.append(-(counts * likelihoods).sum())
    return SHARPNESS[int(torch.stack(losses).argmin())]
