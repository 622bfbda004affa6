"""How a query weighs the context's representations (Kim et al. 2019, section 3).

B tables, m context points, n queries, d inputs, width W.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from npt.processes.settings import HEADS, Attention

LENGTH_SCALE = 1.0  # of Laplace attention


class CrossAttention(nn.Module):
    """Averages of the context's representations with weights of one of four kinds.

    Uniform weights make the model a (conditional) neural process. The others compare keys and
    queries, which are one MLP of the inputs.
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
        if self.multihead is not None:
            return self.multihead(self.embed(queries), self.embed(context), values)
        return self.weights(context, queries)[:, 0] @ values

    def weights(self, context: Tensor, queries: Tensor) -> Tensor:
        """Attention (B, H, n, m) of every head to the context; of one where there are no heads."""
        shape = (len(context), queries.shape[1], context.shape[1])
        if self.kind == "uniform":
            return context.new_full(shape, 1 / context.shape[1])[:, None]
        keys = self.embed(context)  # (B, m, W)
        queries = self.embed(queries)  # (B, n, W)
        if self.multihead is not None:
            return self.multihead.weights(queries, keys)
        if self.kind == "laplace":
            scores = -torch.cdist(queries, keys, p=1) / LENGTH_SCALE
        else:
            scores = queries @ keys.transpose(1, 2) * keys.shape[-1] ** -0.5
        return scores.softmax(-1)[:, None]


class MultiHead(nn.Module):
    """Eight dot-product heads on linear maps without biases, each mapped back and summed."""

    def __init__(self, width: int) -> None:
        super().__init__()
        if width % HEADS:
            raise ValueError(f"width: {width} is not a multiple of {HEADS} heads")
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.back = nn.Linear(width, width, bias=False)
        for linear in (self.query, self.key, self.value, self.back):
            nn.init.normal_(linear.weight, std=width**-0.5)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(B, n, W) from embedded queries (B, n, W) and keys and values (B, m, W)."""
        attended = nn.functional.scaled_dot_product_attention(
            _by_head(self.query(queries)),
            _by_head(self.key(keys)),
            _by_head(self.value(values)),
        )  # (B, H, n, W / H)
        return self.back(attended.transpose(1, 2).flatten(2))

    def weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Attention (B, H, n, m)."""
        heads = _by_head(self.query(queries))  # (B, H, n, W / H)
        scores = heads @ _by_head(self.key(keys)).transpose(-1, -2)  # (B, H, n, m)
        return (scores * heads.shape[-1] ** -0.5).softmax(-1)


def mlp(inputs: int, widths: list[int]) -> nn.Sequential:
    """Linear layers with ReLU between them, and none after the last."""
    layers: list[nn.Module] = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers[:-1])


def _by_head(x: Tensor) -> Tensor:
    """(B, n, W) to (B, H, n, W / H)."""
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)
