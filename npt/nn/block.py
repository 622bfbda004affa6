"""One block of NPT: multi-head attention with a projected residual, then a feed-forward layer.

m queries and s positions of width M, k heads of width c = M / k.
"""

from __future__ import annotations

from itertools import groupby

import torch
from torch import Tensor, nn

from npt.nn.kernels.attention import by_head, dot_product
from npt.nn.kernels.dropout import Dropout
from npt.nn.lipschitz import Norm, attention_bound
from npt.nn.settings import LayerNorm, NPTSettings
from npt.nn.span import Span


class Block(nn.Module):
    """Multi-head attention by dot products or distances, then a feed-forward layer.

    LayerNorm is on the queries' input (with `layer_norm_on: all`, also the keys' and values') and
    before the feed-forward layer.

    Args:
        site: Number of the first of its four dropout layers.
        span: The Gaussian of the distances between rows that is joined to the scores.
    """

    key: nn.Linear

    def __init__(
        self,
        width: int,
        settings: NPTSettings,
        site: int = 0,
        span: Span | None = None,
    ) -> None:
        super().__init__()
        self.heads = settings.heads
        self.scale = width**-0.5
        self.by_distance = settings.kernel.startswith("l2")
        self.span = span
        self.norm_all = settings.layer_norm_on == "all"
        self.norm_attention = build_norm(settings.layer_norm, width)
        self._build_attention(width, settings)
        if settings.residual_start == "identity":
            nn.init.eye_(self.residual.weight)
            nn.init.zeros_(self.residual.bias)
        self.mix = nn.Linear(width, width)
        self.norm_feed_forward = build_norm(settings.layer_norm, width)
        self.widen = nn.Linear(width, settings.feed_forward * width)
        self.narrow = nn.Linear(settings.feed_forward * width, width)
        self.drop_attention = Dropout(settings.attention_dropout, site)
        self.drop_mixed = Dropout(settings.hidden_dropout, site + 1)
        self.drop_widened = Dropout(settings.hidden_dropout, site + 2)
        self.drop_narrowed = Dropout(settings.hidden_dropout, site + 3)

    def _build_attention(self, width: int, settings: NPTSettings) -> None:
        if self.norm_all:
            self.query, self.key, self.value = initialised_jointly(width)
            self.residual = nn.Linear(width, width)
        else:
            self.query = nn.Linear(width, width)
            self.key, self.value, self.residual = initialised_jointly(width)

    def forward(
        self,
        x: Tensor,
        rows: Tensor | None = None,
        context: int | None = None,
        located: Tensor | None = None,
    ) -> Tensor:
        """Outputs (..., m, M) of positions x (..., s, M).

        Args:
            rows: The query positions (B, m); by default all.
            context: Number of first positions that are attended to; by default all.
            located: Locations (B, s, f) of the positions, for a span.
        """
        queries, keys, values, residual = self.project(x, rows)
        keys = keys[..., :context, :]
        values = values[..., :context, :]
        attended = self.attend(queries, keys, values, located, rows)  # (..., m, M)
        hidden = residual + self.drop_mixed(self.mix(attended))  # (..., m, M)
        widened = self.widen(self.norm_feed_forward(hidden))  # (..., m, 4 M)
        activated = self.drop_widened(nn.functional.gelu(widened))  # (..., m, 4 M)
        return hidden + self.drop_narrowed(self.narrow(activated))  # (..., m, M)

    def project(self, x: Tensor, rows: Tensor | None = None) -> list[Tensor]:
        """Queries (..., m, M), keys and values (..., s, M), and residual (..., m, M)."""
        inputs = x if rows is None else take_rows(x, rows)  # (..., m, M)
        normed = self.norm_attention(inputs)  # (..., m, M)
        source = x  # (..., s, M)
        if self.norm_all:
            source = normed if rows is None else self.norm_attention(x)
        return project(
            (self.query, normed),
            (self.key, source),
            (self.value, source),
            (self.residual, inputs),
        )

    def attend(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        located: Tensor | None = None,
        rows: Tensor | None = None,
    ) -> Tensor:
        """Attention of queries (..., m, M) to keys and values (..., s, M): (..., m, M)."""
        values = by_head(values, self.heads)  # (..., k, s, c)
        if self.span is None:
            dropout = self.drop_attention if self.training else None
            features = self.features(queries, keys)
            outputs = dot_product(*features, values, scale=self.scale, dropout=dropout)
        else:
            probabilities = self.scores(queries, keys, located, rows).softmax(-1)
            outputs = self.drop_attention(probabilities) @ values
        return outputs.transpose(-2, -3).flatten(-2)  # (..., m, M)

    def scores(
        self, queries: Tensor, keys: Tensor, located: Tensor | None, rows: Tensor | None
    ) -> Tensor:
        """Scores (..., k, m, s) of queries (..., m, M) and keys (..., s, M)."""
        query_features, key_features = self.features(queries, keys)
        scores = query_features @ key_features.mT * self.scale
        if self.span is None:
            return scores
        assert located is not None
        return self.span(scores, located, rows)

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Features (..., k, m, c') and (..., k, s, c') whose scaled inner products are scores."""
        queries = by_head(queries, self.heads)  # (..., k, m, c)
        keys = by_head(keys, self.heads)  # (..., k, s, c)
        if self.by_distance:
            return distance_features(queries, keys)
        return queries, keys

    def probabilities(self, x: Tensor, rows: Tensor, located: Tensor | None) -> Tensor:
        """Attention (B, k, m, s) of positions `rows` (B, m) to all positions of x (B, s, M)."""
        queries, keys, _, _ = self.project(x, rows)
        return self.scores(queries, keys, located, rows).float().softmax(-1)  # (B, k, m, s)


class TiedBlock(Block):
    """A block whose attention is Lipschitz continuous (Kim et al. 2021).

    Keys are the queries of their positions, and values are x A W^V with A = W^Q W^Q^T / sqrt(M),
    for each head. LayerNorm, if any, is on the input of all three.

    Attributes:
        contraction: With `l2_contractive`, the attention's Lipschitz constant is at most this, in
            the maximum or in the Euclidean norm.
    """

    contraction: float | None

    def _build_attention(self, width: int, settings: NPTSettings) -> None:
        is_contractive = settings.kernel == "l2_contractive"
        self.contraction = settings.contraction if is_contractive else None
        self.query = nn.Linear(width, width, bias=False)  # a bias would not change distances
        self.value = nn.Linear(width, width)
        self.residual = nn.Linear(width, width)

    def project(self, x: Tensor, rows: Tensor | None = None) -> list[Tensor]:
        """Queries (..., m, M), keys and values (..., s, M), and residual (..., m, M)."""
        inputs = x if rows is None else take_rows(x, rows)  # (..., m, M)
        queries = self.query(self.norm_attention(inputs))  # (..., m, M)
        keys = queries if rows is None else self.query(self.norm_attention(x))  # (..., s, M)
        values = self._values(keys)  # (..., s, M)
        if self.contraction is not None:
            values = values * (self.contraction / self.smaller_bound(keys.shape[-2]))
        return [queries, keys, values, self.residual(inputs)]

    def smaller_bound(self, positions: int) -> Tensor:
        """The smaller of the bounds in the two norms: what contractive attention is divided by."""
        return torch.minimum(self.bound(positions), self.bound(positions, "euclidean"))

    def bound(self, positions: int, norm: Norm = "maximum") -> Tensor:
        """Bound of the Lipschitz constant of attention and its output layer, unscaled.

        Args:
            positions: Number of positions that are attended to.
            norm: `maximum`, or `euclidean` of all positions' inputs together.
        """
        query, value = self._weights_by_head()
        return attention_bound(
            query,
            value,
            self.mix.weight,
            positions,
            scale=self.scale,
            norm=norm,
        )

    def _values(self, keys: Tensor) -> Tensor:
        """x A W^V for each head, and the bias: (..., s, M), from keys x W^Q."""
        query, value = self._weights_by_head()
        tied = query @ value.mT * self.scale  # (k, c, c)
        values = by_head(keys, self.heads) @ tied  # (..., k, s, c)
        joined = values.transpose(-2, -3).flatten(-2)  # (..., s, M)
        return joined + self.value.bias.to(joined.dtype)

    def _weights_by_head(self) -> tuple[Tensor, Tensor]:
        """Transposes (k, c, M) of W^Q and W^V of every head."""
        query = self.query.weight.unflatten(0, (self.heads, -1))
        value = self.value.weight.unflatten(0, (self.heads, -1))
        return query, value


class Centre(nn.Module):
    """LayerNorm without the division: subtracts the mean of the features."""

    def forward(self, x: Tensor) -> Tensor:
        """The same shape (..., M)."""
        return x - x.mean(-1, keepdim=True)


def build_norm(kind: LayerNorm, width: int) -> nn.Module:
    """Normalisation of inputs of width M."""
    if kind == "standard":
        return nn.LayerNorm(width, eps=1e-12)
    return Centre() if kind == "centre" else nn.Identity()


def take_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Rows (B, m) of x (B, n, ...)."""
    indices = rows.view(*rows.shape, *[1] * (x.ndim - 2))
    return torch.take_along_dim(x, indices, 1)  # (B, m, ...)


def project(*projections: tuple[nn.Linear, Tensor]) -> list[Tensor]:
    """Outputs of linear layers, each with its input; neighbours with one input share a product."""
    outputs: list[Tensor] = []
    for _, group in groupby(projections, lambda projection: id(projection[1])):
        layers, inputs = zip(*group, strict=True)
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        joint = nn.functional.linear(inputs[0], weight, bias)
        outputs += joint.chunk(len(layers), -1)
    return outputs


def initialised_jointly(width: int) -> list[nn.Linear]:
    """Three linear layers M -> M with the initial weights of one layer M -> 3 M.

    The weights of all are drawn before their biases.
    """
    joint = nn.Linear(width, 3 * width)
    layers = []
    for weight, bias in zip(joint.weight.chunk(3), joint.bias.chunk(3), strict=True):
        layer = nn.Linear(width, width, device="meta")
        layer.weight = nn.Parameter(weight.detach().clone())
        layer.bias = nn.Parameter(bias.detach().clone())
        layers.append(layer)
    return layers


def distance_features(queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Features whose inner products are -||q_i - k_j||^2, up to a constant of every query.

    A softmax over the keys removes the constant. Both are moved by the mean key first, which
    changes no distance and keeps the squares small.

    Args:
        queries: (..., m, c).
        keys: (..., s, c).

    Returns:
        Features (..., m, c + 1) and (..., s, c + 1).
    """
    centre = keys.detach().mean(-2, keepdim=True)  # (..., 1, c)
    queries = queries - centre
    keys = keys - centre
    ones = torch.ones_like(queries[..., :1])
    squares = keys.square().sum(-1, keepdim=True)
    query_features = torch.cat([queries, ones], -1)
    key_features = torch.cat([2 * keys, -squares], -1)
    return query_features, key_features
