"""Layers of K networks (members) at once: every weight has a leading member dimension.

K members, n rows, i and o widths of input and output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from npt.compact.settings import CompactSettings

WIDENING = 2  # width of a feed-forward layer, in multiples of its input's
RESIDUAL_SCALE = 0.5  # of the initial weights of a layer that ends a residual branch


class MemberLinear(nn.Module):
    """A linear layer of every member, of weights (K, i, o) and biases (K, 1, o)."""

    def __init__(
        self,
        members: int,
        inputs: int,
        outputs: int,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        bound = scale / math.sqrt(inputs)
        weight = torch.empty(members, inputs, outputs).uniform_(-bound, bound)
        bias = torch.empty(members, 1, outputs).uniform_(-bound, bound)
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(bias)

    def forward(self, x: Tensor) -> Tensor:
        """From (K, ..., i) to (K, ..., o)."""
        members, *shape, width = x.shape
        rows = x.reshape(members, -1, width)
        outputs = torch.baddbmm(self.bias, rows, self.weight)
        return outputs.view(members, *shape, -1)


class MemberDropout(nn.Module):
    """Dropout whose probability depends on the member."""

    keep: Tensor

    def __init__(self, probabilities: Sequence[float]) -> None:
        super().__init__()
        keep = 1 - torch.tensor(probabilities)
        self.active = bool((keep < 1).any())
        self.register_buffer("keep", keep, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Zero random numbers of x (K, ...) and scale the others; in evaluation, x as it is."""
        if not (self.training and self.active):
            return x
        others = [1] * (x.dim() - 1)
        keep = self.keep.view(-1, *others)
        kept = torch.rand_like(x) < keep
        return x * kept / keep


class FeedForward(nn.Module):
    """A residual block of one hidden layer, which is wider than its input."""

    def __init__(self, width: int, settings: CompactSettings) -> None:
        super().__init__()
        members = settings.members
        hidden = WIDENING * width
        self.widen = MemberLinear(members, width, hidden)
        self.narrow = MemberLinear(members, hidden, width, RESIDUAL_SCALE)
        self.dropout = MemberDropout(by_member(settings.dropout, members))

    def forward(self, x: Tensor) -> Tensor:
        """From (K, ..., width) to the same shape."""
        widened = self.widen(normalised(x))
        hidden = functional.gelu(widened)
        hidden = self.dropout(hidden)
        return x + self.narrow(hidden)


def normalised(x: Tensor) -> Tensor:
    """Layer normalisation over the last dimension, without weights."""
    return functional.layer_norm(x, x.shape[-1:])


def by_member(values: Sequence[float], members: int) -> list[float]:
    """The value of every member: kinds are taken in turn."""
    return [values[member % len(values)] for member in range(members)]
