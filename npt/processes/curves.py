"""Curves of Gaussian processes, and the exact posterior with their own kernel as a ceiling.

Hyper-parameters are drawn anew for every curve: length-scale l ~ U[0.1, 0.6], amplitude
sigma_f ~ U[0.1, 1.0], and for the periodic kernel a period p ~ U[0.1, 0.5] with l as its
smoothness; the noise has standard deviation 0.02. B curves, n points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np
import torch
from torch import Tensor

from npt.nn.gaussian import Gaussians
from npt.processes.settings import Kernel

KERNELS: tuple[Kernel, ...] = get_args(Kernel)
NOISE = 0.02  # standard deviation
LENGTH_SCALES = (0.1, 0.6)
AMPLITUDES = (0.1, 1.0)
PERIODS = (0.1, 0.5)
INTERVAL = (-2.0, 2.0)


@dataclass(frozen=True)
class Hyperparameters:
    """Those of B curves, each (B, 1, 1).

    Attributes:
        period: Used by the periodic kernel alone.
    """

    length_scale: Tensor
    amplitude: Tensor
    period: Tensor

    @classmethod
    def drawn(cls, curves: int, generator: torch.Generator) -> Hyperparameters:
        """Independent draws for every curve."""
        bounds = (LENGTH_SCALES, AMPLITUDES, PERIODS)
        return cls(*(_uniform((curves, 1, 1), bound, generator) for bound in bounds))

    def rounded(self, decimals: int) -> Hyperparameters:
        """The same to some decimals."""
        return Hyperparameters(*(value.round(decimals=decimals) for value in vars(self).values()))

    def numbers(self) -> dict[str, np.ndarray]:
        """Values (B,) by name."""
        return {name: value.flatten().cpu().numpy() for name, value in vars(self).items()}


def covariance(
    kernel: Kernel,
    hyperparameters: Hyperparameters,
    left: Tensor,
    right: Tensor,
) -> Tensor:
    """Covariances (B, n, m) of the noiseless curves between inputs (B, n) and (B, m).

    exp(-r^2 / (2 l^2)), Matern 5/2, or exp(-2 sin^2(pi r / p) / l^2), times the squared amplitude.
    """
    distance = (left[:, :, None] - right[:, None]).abs()  # (B, n, m)
    length_scale = hyperparameters.length_scale
    if kernel == "rbf":
        correlation = (-0.5 * (distance / length_scale).square()).exp()
    elif kernel == "matern":
        scaled = math.sqrt(5) * distance / length_scale
        correlation = (1 + scaled + scaled.square() / 3) * (-scaled).exp()
    else:
        waves = (math.pi * distance / hyperparameters.period).sin()
        correlation = (-2 * (waves / length_scale).square()).exp()
    return hyperparameters.amplitude.square() * correlation


def draw_curves(
    kernel: Kernel,
    hyperparameters: Hyperparameters,
    x: Tensor,
    generator: torch.Generator,
) -> Tensor:
    """Noisy values (B, n) at inputs (B, n), in float64."""
    factor = _noisy_factor(kernel, hyperparameters, x)
    white = torch.randn(x.shape, generator=generator, dtype=x.dtype, device=x.device)
    return (factor @ white[..., None]).squeeze(-1)


def drawn_inputs(curves: int, points: int, generator: torch.Generator) -> Tensor:
    """Inputs (B, n) float64, uniform on the interval [-2, 2]."""
    return _uniform((curves, points), INTERVAL, generator)


def posterior(
    kernel: Kernel,
    hyperparameters: Hyperparameters,
    x: Tensor,
    y: Tensor,
    queries: Tensor,
) -> Gaussians:
    """Exact posterior of noisy values at queries (B, q), given values (B, m) at inputs (B, m).

    It knows the kernel, its hyper-parameters and the noise of every curve, which no model does.
    """
    factor = _noisy_factor(kernel, hyperparameters, x)  # (B, m, m)
    across = covariance(kernel, hyperparameters, x, queries)  # (B, m, q)
    weights = torch.cholesky_solve(y[..., None], factor)  # (B, m, 1)
    mean = (across * weights).sum(1)  # (B, q)
    explained = torch.linalg.solve_triangular(factor, across, upper=False).square().sum(1)
    prior = hyperparameters.amplitude.square().squeeze(-1)  # (B, 1)
    variance = (prior - explained).clamp(min=0) + NOISE**2  # (B, q)
    return Gaussians(mean[None], variance.sqrt()[None])


def _noisy_factor(kernel: Kernel, hyperparameters: Hyperparameters, x: Tensor) -> Tensor:
    """Cholesky factor (B, n, n) of the covariances of noisy values at inputs (B, n)."""
    covariances = covariance(kernel, hyperparameters, x, x)
    covariances.diagonal(dim1=1, dim2=2).add_(NOISE**2)
    return torch.linalg.cholesky(covariances)


def _uniform(
    shape: tuple[int, ...], bounds: tuple[float, float], generator: torch.Generator
) -> Tensor:
    low, high = bounds
    device = generator.device
    uniform = torch.rand(shape, generator=generator, dtype=torch.float64, device=device)
    return low + (high - low) * uniform
