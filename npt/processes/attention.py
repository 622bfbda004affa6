"""How a query weighs the context's representations (Kim et al. 2019, section 3).

B tables, m context points, n queries, d inputs, width W.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from npt.nn.kernels.attention import by_head
from npt.processes.settings import HEADS, Attention

LENGTH_SCALE = 1.0  # of Laplace attention


class CrossAttention(nn.Module):
    """Averages of the context's representations with weights of one of four kinds.

    Uniform weights make the model a (conditional) neural process, whose cost is linear in n + m.
    The others compare keys and queries, which are one MLP of the inputs, in O(n m).
    """

    def __init__(self, kind: Attention, inputs: int, width: int) -> None:
        super().__init__()
        self.kind = kind
        self.embed = nn.Identity() if kind == "uniform" else mlp(inputs, [width, width])
        self.multihead = MultiHead(width) if kind == "multihead" else None

    def forward(self, context: Tensor, values: Tensor, queries: Tensor) -> Tensor:
        """Representations (B, n, W) of queries (B, n, d).

        Args:
            context: Inputs (B, m, d).
            values: Representations (B, m, W) of the context.
        """
        if self.kind == "uniform":
            return values.mean(1, keepdim=True).expand(-1, queries.shape[1], -1)
        weights = self.weights(context, queries)  # (B, H, n, m)
        if self.multihead is None:
            return weights.squeeze(1) @ values
        return self.multihead(weights, values)

    def weights(self, context: Tensor, queries: Tensor) -> Tensor:
        """Attention (B, H, n, m) of every head to the context; of one where there are no heads."""
        if self.kind == "uniform":
            tables, points, _ = context.shape
            return context.new_full((tables, 1, queries.shape[1], points), 1 / points)
        keys = self.embed(context)  # (B, m, W)
        queries = self.embed(queries)  # (B, n, W)
        if self.multihead is not None:
            return self.multihead.weights(queries, keys)
        if self.kind == "laplace":
            scores = -torch.cdist(queries, keys, p=1) / LENGTH_SCALE  # (B, n, m)
        else:
            scores = _products(queries, keys)
        weights = scores.softmax(-1)  # (B, n, m)
        return weights[:, None]


class MultiHead(nn.Module):
    """Eight dot-product heads on linear maps without biases, each mapped back and summed."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = _linear(width)
        self.key = _linear(width)
        self.value = _linear(width)
        self.back = _linear(width)

    def forward(self, weights: Tensor, values: Tensor) -> Tensor:
        """(B, n, W) from attention (B, H, n, m) to values (B, m, W)."""
        attended = weights @ by_head(self.value(values), HEADS)  # (B, H, n, W / H)
        joined = attended.transpose(1, 2).flatten(2)  # (B, n, W)
        return self.back(joined)

    def weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Attention (B, H, n, m)."""
        queries = by_head(self.query(queries), HEADS)  # (B, H, n, W / H)
        keys = by_head(self.key(keys), HEADS)  # (B, H, m, W / H)
        scores = _products(queries, keys)  # (B, H, n, m)
        return scores.softmax(-1)


def mlp(inputs: int, widths: list[int]) -> nn.Sequential:
    """Linear layers with ReLU between them, and none after the last."""
    layers: list[nn.Module] = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    layers.pop()
    return nn.Sequential(*layers)


def _linear(width: int) -> nn.Linear:
    """A linear map without bias, with Gaussian weights."""
    linear = nn.Linear(width, width, bias=False)
    nn.init.normal_(linear.weight, std=width**-0.5)
    return linear


def _products(queries: Tensor, keys: Tensor) -> Tensor:
    """Scalar products (..., n, m) over the root of their width."""
    width = keys.shape[-1]
    return queries @ keys.mT * width**-0.5
