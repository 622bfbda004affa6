"""Cells to tokens: numbers by piecewise-linear or periodic functions, categories by vectors.

K members, n rows, d features (q numbers, c categories), e width of a token, b functions of a
number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from npt.compact.columns import Encoder, Features
from npt.compact.layers import by_member
from npt.compact.settings import CompactSettings

TOKEN_SCALE = 0.5  # standard deviation of the initial weights of what is not a function of a number
FREQUENCY_SCALE = 0.3  # of the periodic functions, in periods per standard deviation


class CellEmbedding(nn.Module):
    """A token for each feature and, last, one for the target, which is always hidden.

    The token of a number x is `slope * x + functions(x) @ weight + offset`. That of a category is
    the vector of its level plus `offset`; of one whose levels are numbers, the sum of both. A
    missing or hidden cell has a learned vector of its column.

    Attributes:
        numeric: Indices (q,) of the numbers among the features.
        categorical: Indices (c,) of the categories.
    """

    numeric: Tensor
    categorical: Tensor

    def __init__(self, encoder: Encoder, settings: CompactSettings) -> None:
        super().__init__()
        members = settings.members
        width = settings.token_width
        numbers = len(encoder.numeric)
        features = len(encoder.features)
        scales = torch.tensor(by_member(settings.bin_scale, members))
        means = torch.from_numpy(encoder.means).float()
        self.functions: PiecewiseLinear | Periodic
        if settings.number_embedding == "periodic":
            self.functions = Periodic(numbers, settings.bins)
        elif settings.number_embedding == "piecewise":
            self.functions = PiecewiseLinear(means)
        else:
            self.functions = PiecewiseLinear(means[:, :0])  # no function but the number itself
        for name in ("numeric", "categorical"):
            places = np.searchsorted(encoder.features, getattr(encoder, name))
            self.register_buffer(name, torch.from_numpy(places), persistent=False)
        self.slope = _vectors(members, numbers, 1, width)
        weight = torch.randn(members, numbers, self.functions.count, width)
        weight = scales.view(-1, 1, 1, 1) * weight
        self.weight = nn.Parameter(weight)
        sizes = [encoder.columns[j].size for j in encoder.categorical]
        self.levels = LevelEmbedding(members, sizes, width)
        self.offset = _vectors(members, 1, features, width)
        self.hidden = _vectors(members, 1, features, width)
        self.target = _vectors(members, 1, 1, width)

    def forward(self, features: Features, hidden: Tensor | None = None) -> Tensor:
        """Tokens (K, n, d + 1, e); `hidden` (K, n, d) are cells to hide besides missing ones."""
        rows = len(features.missing)
        tokens = self.offset.expand(-1, rows, -1, -1)
        if len(self.numeric):
            terms = self._numbers(features)
            tokens = _added(tokens, self.numeric, terms)
        if len(self.categorical):
            terms = self.levels(features.codes)
            tokens = _added(tokens, self.categorical, terms)
        absent = features.missing
        if hidden is not None:
            absent = absent | hidden
        tokens = torch.where(absent[..., None], self.hidden, tokens)  # (K, n, d, e)
        target = self.target.expand(-1, rows, -1, -1)
        return torch.cat([tokens, target], 2)

    def _numbers(self, features: Features) -> Tensor:
        """Tokens (K, n, q, e) of the numeric columns, without their offsets."""
        members, count, _, width = self.weight.shape
        values = self.functions(features)  # (q, n, b)
        numbers = features.numbers.T[..., None]
        inputs = torch.cat([values, numbers], -1)  # (q, n, b + 1)
        weights = torch.cat([self.weight, self.slope], 2)  # (K, q, b + 1, e)
        weights = weights.permute(1, 2, 0, 3).flatten(2)  # (q, b + 1, K * e)
        tokens = torch.bmm(inputs, weights)  # (q, n, K * e)
        tokens = tokens.view(count, -1, members, width)
        return tokens.permute(2, 1, 0, 3)


class LevelEmbedding(nn.Module):
    """A vector for every level of every categorical column."""

    starts: Tensor

    def __init__(
        self,
        members: int,
        sizes: Sequence[int],
        width: int,
    ) -> None:
        super().__init__()
        self.weight = _vectors(members, sum(sizes), width)
        levels = torch.tensor(sizes, dtype=torch.long)
        self.register_buffer("starts", levels.cumsum(0) - levels, persistent=False)

    def forward(self, codes: Tensor) -> Tensor:
        """Tokens (K, n, c, e) of codes (n, c)."""
        indices = codes + self.starts
        vectors = self.weight.index_select(1, indices.flatten())
        return vectors.view(len(vectors), *codes.shape, -1)


class PiecewiseLinear(nn.Module):
    """Shares of each bin that lie below a number, centred."""

    means: Tensor
    bins: Tensor

    def __init__(self, means: Tensor) -> None:
        super().__init__()
        self.count = means.shape[1]
        bins = torch.arange(self.count)
        self.register_buffer("means", means[:, None], persistent=False)
        self.register_buffer("bins", bins, persistent=False)

    def forward(self, features: Features) -> Tensor:
        """Values (q, n, b)."""
        positions = features.positions.T[..., None]
        shares = (positions - self.bins).clamp(0, 1)
        return shares - self.means


class Periodic(nn.Module):
    """Cosines of random frequencies and phases."""

    frequency: Tensor
    phase: Tensor

    def __init__(self, columns: int, count: int) -> None:
        super().__init__()
        self.count = count
        frequency = FREQUENCY_SCALE * torch.randn(columns, 1, count)
        phase = torch.rand(columns, 1, count)
        self.register_buffer("frequency", frequency)
        self.register_buffer("phase", phase)

    def forward(self, features: Features) -> Tensor:
        """Values (q, n, b)."""
        numbers = features.numbers.T[..., None]
        periods = numbers * self.frequency + self.phase
        return torch.cos(2 * math.pi * periods)


def _vectors(*shape: int) -> nn.Parameter:
    """Initial vectors, in the last dimension of a shape."""
    vectors = TOKEN_SCALE * torch.randn(*shape)
    return nn.Parameter(vectors)


def _added(tokens: Tensor, columns: Tensor, terms: Tensor) -> Tensor:
    """Tokens (K, n, d, e) with terms (K, n, columns, e) added to some columns."""
    if len(columns) == tokens.shape[2]:
        return tokens + terms
    return tokens.index_add(2, columns, terms.to(tokens.dtype))
