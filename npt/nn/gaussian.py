"""Gaussian outputs: their floor, and log-likelihoods of single points.

S draws of the latent variable, B tables, n points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

LOWEST = 0.1  # standard deviation that an output cannot fall below
SHARE = 0.9  # factor of what is added to it


@dataclass(frozen=True)
class Gaussians:
    """Predicted distributions of points; with a latent variable, an equal mixture over its draws.

    Attributes:
        mean: Means (S, B, n).
        deviation: Standard deviations (S, B, n).
    """

    mean: Tensor
    deviation: Tensor

    @classmethod
    def from_outputs(cls, outputs: Tensor) -> Gaussians:
        """From a network's outputs (S, B, n, 2): mu and omega."""
        mean, raw = outputs.unbind(-1)
        return cls(mean, floored(raw))

    def after(self, points: int) -> Gaussians:
        """Those of all but the first points."""
        return Gaussians(self.mean[..., points:], self.deviation[..., points:])

    def log_densities(self, y: Tensor) -> Tensor:
        """Log density (S, B, n) of values (B, n) by draw, in nats."""
        errors = (y - self.mean) / self.deviation
        return -0.5 * errors.square() - self.deviation.log() - 0.5 * math.log(2 * math.pi)

    def log_likelihoods(self, y: Tensor) -> Tensor:
        """Log density (B, n) of values (B, n) under the mixture over the draws."""
        by_draw = self.log_densities(y)
        return by_draw.logsumexp(0) - math.log(len(by_draw))

    def marginal_mean(self) -> Tensor:
        """Mean (B, n) of the mixture."""
        return self.mean.mean(0)

    def marginal_deviation(self) -> Tensor:
        """Standard deviation (B, n) of the mixture."""
        variance = self.deviation.square().mean(0) + self.mean.var(0, correction=0)
        return variance.sqrt()


def floored(raw: Tensor) -> Tensor:
    """sigma = 0.1 + 0.9 softplus(omega), in units of the target."""
    return LOWEST + SHARE * F.softplus(raw)
