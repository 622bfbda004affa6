"""Relative positions of pixels: embeddings and a Gaussian span (Alfons 2022, thesis).

Pixels in k dimensions of size S: 1 for a sequence of them, 2 for rows and columns. N pixels, R =
(2 S - 1)^k relative positions, E width of an embedding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from npt.nn.kernels.local import radius_of

FREQUENCY = 10.0  # omega_0 of a SIREN
LONGEST = 10_000.0  # wavelength of the fixed sinusoids, over 2 pi
FIRST_SIGMA = 0.3


def relative_coordinates(sizes: Sequence[int]) -> Tensor:
    """Coordinates (R, k) of all relative positions, each in [-1, 1]; 0 is no distance."""
    axes: list[Tensor] = []
    for size in sizes:
        pixels = torch.arange(1 - size, size).float()
        axes.append(pixels / max(1, size - 1))
    return _product(axes)


def relative_index(sizes: Sequence[int]) -> Tensor:
    """Index (N, N) of the relative position j - i of pixels i and j."""
    axes = [torch.arange(size) for size in sizes]
    pixels = _product(axes)  # (N, k)
    differences = pixels - pixels[:, None]  # (N, N, k)
    index = torch.zeros_like(differences[..., 0])
    for axis, size in enumerate(sizes):
        positions = 2 * size - 1
        place = differences[..., axis] + size - 1
        index = index * positions + place
    return index


def _product(axes: Sequence[Tensor]) -> Tensor:
    """All combinations (..., k) of k axes, in row-major order."""
    grid = torch.meshgrid(*axes, indexing="ij")
    combined = torch.stack(grid, -1)
    return combined.flatten(0, -2)


class Sinusoids(nn.Module):
    """A linear layer on fixed sinusoids of integer positions, in one dimension."""

    waves: Tensor

    def __init__(self, sizes: Sequence[int], width: int) -> None:
        super().__init__()
        (size,) = sizes
        positions = torch.arange(1 - size, size).float()  # (R,)
        exponents = torch.arange(0, width, 2) / width
        angles = positions[:, None] / LONGEST**exponents  # (R, E / 2)
        sines = angles.sin()
        cosines = angles.cos()
        waves = torch.cat([sines, cosines], -1)
        self.register_buffer("waves", waves, persistent=False)
        self.linear = nn.Linear(width, width)

    def forward(self) -> Tensor:
        """Embeddings (R, E)."""
        return self.linear(self.waves)


class Siren(nn.Module):
    """A network of sines (Sitzmann et al. 2020) on normalised relative coordinates."""

    coordinates: Tensor

    def __init__(self, sizes: Sequence[int], width: int) -> None:
        super().__init__()
        self.register_buffer("coordinates", relative_coordinates(sizes), persistent=False)
        dimensions = len(sizes)
        first_bound = 1 / dimensions
        hidden_bound = math.sqrt(6 / width) / FREQUENCY
        self.first = nn.Linear(dimensions, width)
        self.hidden = nn.Linear(width, width)
        self.last = nn.Linear(width, width)
        nn.init.uniform_(self.first.weight, -first_bound, first_bound)
        nn.init.uniform_(self.hidden.weight, -hidden_bound, hidden_bound)
        nn.init.kaiming_uniform_(self.last.weight)
        for layer in (self.first, self.hidden, self.last):
            nn.init.zeros_(layer.bias)

    def forward(self) -> Tensor:
        """Embeddings (R, E)."""
        x = torch.sin(FREQUENCY * self.first(self.coordinates))
        x = torch.sin(FREQUENCY * self.hidden(x))
        return self.last(x)


class PixelSpan(nn.Module):
    """G = exp(-1/2 sum_c x_c^2 / sigma_c^2) of normalised relative coordinates x.

    Attributes:
        sigma: Learned widths (k,).
        threshold: Positions with a coordinate beyond sqrt(-2 ln t) sigma_c, rounded up to whole
            pixels, are excluded; None excludes none.
    """

    coordinates: Tensor

    def __init__(self, sizes: Sequence[int], threshold: float | None) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        self.threshold = threshold
        first = torch.full((len(sizes),), FIRST_SIGMA)
        self.sigma = nn.Parameter(first)
        coordinates = relative_coordinates(sizes)
        self.register_buffer("coordinates", coordinates, persistent=False)

    def log_gaussian(self) -> Tensor:
        """log G (R,) of every relative position."""
        scaled = self.coordinates / self.sigma
        return -0.5 * scaled.square().sum(-1)

    def reach(self) -> list[int]:
        """Farthest pixels in each dimension that are attended to."""
        farthest = [size - 1 for size in self.sizes]
        if self.threshold is None:
            return farthest
        cut_off = radius_of(self.threshold)
        reach: list[int] = []
        sigmas = self.sigma.abs().tolist()
        for most, sigma in zip(farthest, sigmas, strict=True):
            pixels = math.ceil(cut_off * sigma * most)
            reach.append(min(pixels, most))
        return reach

    def excluded(self) -> Tensor:
        """Which relative positions (R,) are not attended to."""
        farthest = torch.tensor(self.sizes) - 1  # (k,)
        pixels = self.coordinates.abs() * farthest.to(self.coordinates)  # (R, k)
        reach = torch.tensor(self.reach()) + 0.5  # whole pixels, with rounding
        beyond = pixels > reach.to(pixels)
        return beyond.any(-1)
