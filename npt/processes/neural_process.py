"""Conditional, latent and attentive neural processes (Garnelo et al. 2018, Kim et al. 2019).

S draws of the latent variable, B tables, m context points, n targets, d inputs, width W.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence

from npt.nn.gaussian import LOWEST, SHARE, Gaussians
from npt.processes.attention import CrossAttention, mlp
from npt.processes.settings import NeuralProcessSettings
from npt.processes.tasks import Tasks

ENCODER_LAYERS = 4


class NeuralProcess(nn.Module):
    """A deterministic path with attention, with `latent` a latent path, and a decoder.

    Args:
        values: Width of a point's value.
        outputs: Outputs of the decoder: mean and deviation of a number, or logits of classes.
    """

    def __init__(
        self, inputs: int, settings: NeuralProcessSettings, values: int = 1, outputs: int = 2
    ) -> None:
        super().__init__()
        width = settings.width
        self.encoder = mlp(inputs + values, [width] * ENCODER_LAYERS)
        self.attention = CrossAttention(settings.attention, inputs, width)
        self.latent_encoder = LatentEncoder(inputs + values, width) if settings.latent else None
        paths = 2 if settings.latent else 1
        self.decoder = mlp(paths * width + inputs, [width, width, outputs])

    def objective(self, tasks: Tasks, generator: torch.Generator) -> Tensor:
        """Mean over targets of log p(y) - KL(q(z|T) || q(z|C)) / |T|, z from q(z|T); maximised."""
        if self.latent_encoder is None:
            gaussians = self._decoded(tasks, None)
            return gaussians.log_densities(tasks.y).mean()
        posterior = self.latent_encoder(pairs(tasks.x, tasks.y))
        prior = self.latent_encoder(pairs(tasks.shown_x, tasks.shown_y))
        gaussians = self._decoded(tasks, latent_draws(posterior, 1, generator))
        densities = gaussians.log_densities(tasks.y)  # (1, B, n)
        divergences = kl_divergence(posterior, prior).sum(-1)  # (B,)
        targets = tasks.y.shape[1]
        return densities.mean() - divergences.mean() / targets

    def predict(
        self,
        tasks: Tasks,
        draws: int = 1,
        generator: torch.Generator | None = None,
    ) -> Gaussians:
        """Distributions (S, B, n) of all targets given the context, z from q(z|C)."""
        if self.latent_encoder is None:
            return self._decoded(tasks, None)
        prior = self.latent_encoder(pairs(tasks.shown_x, tasks.shown_y))
        return self._decoded(tasks, latent_draws(prior, draws, generator))

    def _decoded(self, tasks: Tasks, z: Tensor | None) -> Gaussians:
        encoded = self.encoder(pairs(tasks.shown_x, tasks.shown_y))  # (B, m, W)
        return Gaussians.from_outputs(self.outputs(tasks.shown_x, encoded, tasks.x, z))

    def outputs(self, context: Tensor, encoded: Tensor, x: Tensor, z: Tensor | None) -> Tensor:
        """Outputs (S, B, n, `outputs`) of targets x (B, n, d), given a context and draws of z."""
        attended = self.attention(context, encoded, x)  # (B, n, W)
        parts = [attended[None], x[None]]
        if z is not None:
            parts.insert(1, z[:, :, None])
        draws = 1 if z is None else len(z)
        expanded = [part.expand(draws, -1, x.shape[1], -1) for part in parts]
        return self.decoder(torch.cat(expanded, -1))


class LatentEncoder(nn.Module):
    """q(z | points): an MLP of each point, their mean, and from it a Gaussian."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.points = mlp(inputs, [width] * ENCODER_LAYERS)
        self.hidden = nn.Linear(width, width)
        self.mean = nn.Linear(width, width)
        self.raw_deviation = nn.Linear(width, width)

    def forward(self, points: Tensor) -> Normal:
        """The Gaussian (B, W) of points with their values (B, m, d + `values`)."""
        encoded = self.points(points)  # (B, m, W)
        summary = encoded.mean(1)  # (B, W)
        hidden = F.relu(self.hidden(summary))  # (B, W)
        deviation = LOWEST + SHARE * self.raw_deviation(hidden).sigmoid()
        return Normal(self.mean(hidden), deviation, validate_args=False)


def latent_draws(latent: Normal, draws: int, generator: torch.Generator | None) -> Tensor:
    """Reparametrised draws (S, B, W)."""
    shape = (draws, *latent.mean.shape)
    white = torch.randn(shape, generator=generator, device=latent.mean.device)
    return latent.mean + latent.stddev * white


def pairs(x: Tensor, y: Tensor) -> Tensor:
    """Inputs and values as one (B, m, d + 1)."""
    return torch.cat([x, y[..., None]], -1)
