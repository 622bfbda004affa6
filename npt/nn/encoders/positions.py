"""Relative positions of pixels: embeddings and a Gaussian span (Alfons 2022, thesis).

Pixels in k dimensions of size S: 1 for a sequence of them, 2 for rows and columns. N pixels, R =
(2 S - 1)^k relative positions, E width of an embedding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from npt.nn.distances import radius_of

FREQUENCY = 10.0  # omega_0 of a SIREN
LONGEST = 10_000.0  # wavelength of the fixed sinusoids, over 2 pi
FIRST_SIGMA = 0.3


def relative_coordinates(sizes: Sequence[int]) -> Tensor:
    """Coordinates (R, k) of all relative positions, each in [-1, 1]; 0 is no distance."""
    axes = [torch.arange(1 - size, size) / max(1, size - 1) for size in sizes]
    return torch.cartesian_prod(*axes).view(-1, len(sizes))


def relative_index(sizes: Sequence[int]) -> Tensor:
    """Index (N, N) of the relative position j - i of pixels i and j."""
    pixels = torch.cartesian_prod(*map(torch.arange, sizes)).view(-1, len(sizes))  # (N, k)
    differences = pixels - pixels[:, None]  # (N, N, k)
    index = torch.zeros_like(differences[..., 0])
    for axis, size in enumerate(sizes):
        index = index * (2 * size - 1) + differences[..., axis] + size - 1
    return index


class Sinusoids(nn.Module):
    """A linear layer on fixed sinusoids of integer positions, in one dimension."""

    waves: Tensor

    def __init__(self, sizes: Sequence[int], width: int) -> None:
        super().__init__()
        (size,) = sizes
        positions = torch.arange(1 - size, size).float()  # (R,)
        exponents = torch.arange(0, width, 2) / width
        angles = positions[:, None] / LONGEST**exponents  # (R, E / 2)
        waves = torch.cat([angles.sin(), angles.cos()], -1)
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
        self.sigma = nn.Parameter(torch.full((len(sizes),), FIRST_SIGMA))
        self.register_buffer("coordinates", relative_coordinates(sizes), persistent=False)

    def log_gaussian(self) -> Tensor:
        """log G (R,) of every relative position."""
        scaled = self.coordinates / self.sigma
        return -0.5 * scaled.square().sum(-1)

    def reach(self) -> Tensor:
        """Farthest pixels (k,) in each dimension that are attended to."""
        farthest = torch.tensor(self.sizes) - 1
        if self.threshold is None or self.sigma.is_meta:  # whose FLOPs are counted without values
            return farthest
        sigma = self.sigma.detach().cpu().double().abs()
        pixels = torch.ceil(radius_of(self.threshold) * sigma * farthest)
        return pixels.nan_to_num(nan=math.inf).minimum(farthest).long()

    def excluded(self, reach: Tensor) -> Tensor:
        """Which relative positions (R,) are not attended to, by the `reach`."""
        farthest = torch.tensor(self.sizes) - 1
        pixels = self.coordinates.abs() * farthest.to(self.coordinates)  # (R, k)
        limit = reach + 0.5  # whole pixels, with rounding
        return (pixels > limit.to(pixels)).any(-1)
