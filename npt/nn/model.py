"""The NPT architecture (paper section 2 and Appendix C.1), to be read top to bottom.

B tables side by side, n rows, d columns with the target, e width of one column's embedding, k heads,
M width of an attention block (d * e between datapoints, e between attributes), C_j length of column j's encoding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import ModelInput
from npt.nn.kernels.attention import AttentionDropout, dot_product, dot_product_of
from npt.nn.kernels.dropout import Dropout, Noise
from npt.nn.patches import PatchEmbedding, PatchHead
from npt.nn.settings import NPTSettings


class Block(nn.Module):
    """Multi-head self-attention with a projected residual and LayerNorm on the query path, then a feed-forward block.

    Input and output are (..., s, M); attention runs over s. The projections of one input are one layer: keys, values and
    residual come from the input itself, queries from the normed one (with `layer_norm_on: all`, keys and values too).
    """

    def __init__(
        self, width: int, settings: NPTSettings, noise: Noise | None = None, site: int = 0
    ) -> None:
        super().__init__()
        if width % settings.heads:
            raise ValueError(f"block width {width} is not a multiple of {settings.heads} heads")
        noise = noise or Noise()
        self.heads, self.scale, self.norm_all = (
            settings.heads,
            width**-0.5,
            settings.layer_norm_on == "all",
        )
        self.attention_dropout = AttentionDropout(settings.attention_dropout, noise, site)
        self.norm_attention = nn.LayerNorm(width, eps=1e-12)
        self.from_normed = nn.Linear(width, (3 if self.norm_all else 1) * width)
        self.from_raw = nn.Linear(width, (1 if self.norm_all else 3) * width)
        self.mix = nn.Linear(width, width)
        self.norm_feed_forward = nn.LayerNorm(width, eps=1e-12)
        self.widen = nn.Linear(width, settings.feed_forward * width)
        self.narrow = nn.Linear(settings.feed_forward * width, width)
        self.activation = nn.GELU()
        self.drop_mixed, self.drop_widened, self.drop_narrowed = (
            Dropout(settings.hidden_dropout, noise, site + place) for place in (1, 2, 3)
        )

    def forward(
        self, x: torch.Tensor, rows: torch.Tensor | None = None, present: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Attend over the second to last dimension, then apply the feed-forward block to every position.

        With `rows` (B, m), positions of x (B, s, M), the output is (B, m, M): what the others only give as keys and values.
        With `present` (B, s), positions where it is false are not attended to.
        """
        queries, keys, values, residual = (
            self._project(x) if rows is None else self._project_rows(x, rows)
        )  # (..., s, M)
        attended = self._attend(queries, keys, values, present)  # (..., s, M)
        hidden = self.drop_mixed.add(residual, self.mix(attended))  # (..., s, M)
        widened = self.drop_widened(
            self.activation(self.widen(self.norm_feed_forward(hidden)))
        )  # (..., s, 4 M)
        return self.drop_narrowed.add(hidden, self.narrow(widened))  # (..., s, M)

    def segments(self) -> dict[nn.Parameter, torch.Tensor]:
        """Fused parameters, and for each of their rows which of the block's projections it belongs to."""
        width = len(self.norm_attention.weight)
        fused = [*self.from_normed.parameters(), *self.from_raw.parameters()]
        return {p: torch.arange(len(p)) // width for p in fused if len(p) > width}

    def _project(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Queries, keys, values and residual (..., s, M)."""
        normed, raw = self.from_normed(self.norm_attention(x)), self.from_raw(x)
        return [*normed.split(x.shape[-1], -1), *raw.split(x.shape[-1], -1)]

    def _project_rows(self, x: torch.Tensor, rows: torch.Tensor) -> list[torch.Tensor]:
        """Queries and residual (B, m, M) of `rows`, keys and values (B, s, M) of all."""
        width, linear = x.shape[-1], nn.functional.linear
        asked = x.gather(1, rows[..., None].expand(-1, -1, width))
        source = self.norm_attention(x) if self.norm_all else x
        weights = [*self.from_normed.weight.split(width), *self.from_raw.weight.split(width)]
        biases = [*self.from_normed.bias.split(width), *self.from_raw.bias.split(width)]
        inputs = (self.norm_attention(asked), source, source, asked)
        return [linear(*three) for three in zip(inputs, weights, biases, strict=True)]

    def probabilities(self, x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Attention (B, k, m, s) of `rows` (B, m) of an input (B, s, M) to all its positions; for every row it sums to one."""
        queries, keys, *_ = self._project_rows(x, rows)
        queries, keys = (
            self._by_head(queries),
            self._by_head(keys),
        )  # (B, k, m, M / k), (B, k, s, M / k)
        return (queries @ keys.transpose(-1, -2) * self.scale).float().softmax(-1)

    def _attend(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        present: torch.Tensor | None = None,
    ) -> torch.Tensor:
        split = [self._by_head(x) for x in (queries, keys, values)]  # (..., k, s, M / k)
        if present is None:
            outputs = dot_product(
                *split, scale=self.scale, dropout=self.attention_dropout if self.training else None
            )
        else:
            outputs = dot_product_of(present, *split, scale=self.scale)
        return outputs.transpose(-2, -3).flatten(-2)  # (..., s, M)

    def _by_head(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(-2, -3)


class Embedding(nn.Module):
    """One linear layer C_j + 1 -> e per column, all in one weight: its classes' rows, then one row for the mask channel."""

    starts: torch.Tensor
    masks: torch.Tensor

    def __init__(self, layout: ColumnLayout, width: int) -> None:
        super().__init__()
        lengths = [size + 1 for size in layout.sizes]
        starts = [sum(lengths[:j]) for j in range(len(lengths))]
        self.weight = nn.Parameter(torch.empty(sum(lengths), width))
        self.bias = nn.Parameter(torch.empty(len(lengths), width))
        for j, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            bound = 1 / math.sqrt(length)
            nn.init.uniform_(self.weight.data[start : start + length], -bound, bound)
            nn.init.uniform_(self.bias.data[j], -bound, bound)
        self.register_buffer("starts", torch.tensor(starts), persistent=False)
        self.register_buffer(
            "masks", torch.tensor(starts) + torch.tensor(layout.sizes), persistent=False
        )

    def forward(self, cells: ModelInput) -> torch.Tensor:
        """Embed every cell: (B, n, d) to (B, n, d, e)."""
        rows = nn.functional.embedding(cells.codes + self.starts, self.weight)  # (B, n, d, e)
        return (
            rows * cells.scale[..., None]
            + self.weight[self.masks] * cells.mask[..., None]
            + self.bias
        )

    def segments(self) -> dict[nn.Parameter, torch.Tensor]:
        """Fused parameters, and for each of their rows its column."""
        columns = torch.arange(len(self.starts))
        lengths = (self.masks - self.starts).cpu() + 1
        return {self.weight: columns.repeat_interleave(lengths), self.bias: columns}


class Head(nn.Module):
    """One linear layer e -> C_j per column, all in one weight; in float32 also where the blocks compute in bfloat16.

    Categorical columns are decoded in groups of like size, each padded to its largest: at most twice the classes, a handful
    of products for any number of columns, and shapes that no mask changes.
    """

    starts: torch.Tensor

    def __init__(self, layout: ColumnLayout, width: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(width)
        self.layout = layout
        self.weight = nn.Parameter(torch.empty(sum(layout.sizes), width).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(sum(layout.sizes)).uniform_(-bound, bound))
        self.register_buffer("starts", torch.tensor(layout.starts), persistent=False)
        self.groups = nn.ModuleList(ClassGroup(layout, columns) for columns in _groups(layout))

    def logits(self, tokens: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """For every group its columns (m,) and logits (m, n, C), from the tokens (n, d, e); -inf beyond a column's classes."""
        for group in self.groups:
            if isinstance(group, ClassGroup):
                yield group.columns, group(self, tokens)

    def numbers(self, tokens: torch.Tensor) -> torch.Tensor:
        """Standardised values (..., d) of all columns' tokens (..., d, e); those of categorical columns mean nothing."""
        tokens = tokens.to(self.weight.dtype)
        return (tokens * self.weight[self.starts]).sum(-1) + self.bias[self.starts]

    def segments(self) -> dict[nn.Parameter, torch.Tensor]:
        """Fused parameters, and for each of their rows its column."""
        columns = torch.arange(len(self.layout.sizes)).repeat_interleave(
            torch.tensor(self.layout.sizes)
        )
        return {self.weight: columns, self.bias: columns}

    def target(self, tokens: torch.Tensor) -> torch.Tensor:
        """Outputs (..., C of the target) from the target column's tokens (..., e)."""
        start, size = self.layout.starts[self.layout.target], self.layout.sizes[self.layout.target]
        with torch.autocast(tokens.device.type, enabled=False):
            tokens = tokens.to(self.weight.dtype)
            return nn.functional.linear(
                tokens, self.weight[start : start + size], self.bias[start : start + size]
            )


class ClassGroup(nn.Module):
    """Categorical columns (m,) that are decoded together, and where their C classes at most lie in the head's weight."""

    columns: torch.Tensor
    places: torch.Tensor
    padding: torch.Tensor

    def __init__(self, layout: ColumnLayout, columns: list[int]) -> None:
        super().__init__()
        widest = max(layout.sizes[j] for j in columns)
        places = torch.tensor(
            [
                [layout.starts[j] + min(c, layout.sizes[j] - 1) for c in range(widest)]
                for j in columns
            ]
        )
        padding = torch.tensor(
            [[-math.inf if c >= layout.sizes[j] else 0.0 for c in range(widest)] for j in columns]
        )
        self.register_buffer("columns", torch.tensor(columns), persistent=False)
        self.register_buffer("places", places, persistent=False)
        self.register_buffer("padding", padding, persistent=False)

    def forward(self, head: Head, tokens: torch.Tensor) -> torch.Tensor:
        """Logits (m, n, C) from the tokens (n, d, e) of all columns."""
        own = tokens[:, self.columns].transpose(0, 1).to(head.weight.dtype)  # (m, n, e)
        bias = head.bias[self.places] + self.padding  # (m, C)
        with torch.autocast(tokens.device.type, enabled=False):
            return torch.baddbmm(
                bias[:, None], own, head.weight[self.places].transpose(1, 2)
            )  # (m, n, C)


def _groups(layout: ColumnLayout) -> list[list[int]]:
    """Categorical feature columns by the power of two that bounds their classes."""
    features = [
        j for j in range(len(layout.sizes)) if j != layout.target and not layout.continuous[j]
    ]
    keys = sorted({(layout.sizes[j] - 1).bit_length() for j in features})
    return [[j for j in features if (layout.sizes[j] - 1).bit_length() == key] for key in keys]


AnyHead = Head | PatchHead


class NPT(nn.Module):
    """Alternating attention between datapoints and between attributes over an embedded table."""

    kinds: torch.Tensor

    def __init__(self, layout: ColumnLayout, settings: NPTSettings) -> None:
        super().__init__()
        d, e = layout.tokens, settings.width
        self.layout, self.recompute = layout, False
        self.embedding, self.head = _ends(layout, e)
        self.column_index = nn.Embedding(d, e)
        self.column_kind = nn.Embedding(2, e) if len(set(layout.token_continuous)) == 2 else None
        self.noise = Noise()
        self.drop_embedded, self.drop_last = (
            Dropout(settings.hidden_dropout, self.noise, site) for site in (0, 1)
        )
        self.over_rows = _which_layers(settings)
        self.blocks = nn.ModuleList(
            Block(d * e if rows else e, settings, self.noise, 4 * place)
            for place, rows in enumerate(self.over_rows, start=1)
        )
        self.register_buffer(
            "kinds", torch.tensor(layout.token_continuous).long(), persistent=False
        )

    def forward(
        self,
        cells: ModelInput,
        rows: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Tokens (B, n, d, e) of all cells; `head` turns them into predictions.

        With `rows` (B, m), those rows' tokens (B, m, d, e) alone, for less work: after the last attention between
        datapoints nothing else is needed. Rows where `present` (B, n) is false are as if they were not in the input, so that
        tables of different lengths fit into one: for evaluation.
        """
        x = self.embedding(cells) + self.column_index.weight  # (B, n, d, e)
        if self.column_kind is not None:
            x = x + self.column_kind(self.kinds)  # (B, n, d, e)
        x = self.drop_embedded(x)
        last = max(
            (place for place, over_rows in enumerate(self.over_rows) if over_rows), default=-1
        )
        if rows is not None and last < 0:
            x = _pick(x, rows)  # (B, m, d, e)
        for place, (block, over_rows) in enumerate(zip(self.blocks, self.over_rows, strict=True)):
            if not over_rows:
                x = self._run(block, x.flatten(0, 1)).view(x.shape)  # (B, n, d, e)
            else:
                asked = rows if place == last else None
                x = self._run(block, x.flatten(-2), asked, present).unflatten(
                    -1, x.shape[-2:]
                )  # (B, n, d, e), or (B, m, d, e)
        return self.drop_last(x)

    def predict_target(
        self,
        cells: ModelInput,
        rows: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Outputs (B, n, C of the target), or (B, m, C) of `rows` (B, m): logits, or the standardised value."""
        return self.head.target(self(cells, rows, present)[..., self.layout.target_token, :])

    def _run(self, block: nn.Module, *inputs: torch.Tensor | None) -> torch.Tensor:
        """A block; where activations are not kept, its backward pass runs it again with the same dropout."""
        if self.recompute and torch.is_grad_enabled():
            return checkpoint(block, *inputs, use_reentrant=False)
        return block(*inputs)

    def segments(self) -> dict[nn.Parameter, torch.Tensor]:
        """Fused parameters, and for each of their rows the number of its tensor in the paper: a column's, or Q, K, V, R."""
        projections: dict[nn.Parameter, torch.Tensor] = {}
        for block in self.blocks:
            projections |= block.segments() if isinstance(block, Block) else {}
        return projections | self.embedding.segments() | self.head.segments()


def _ends(layout: ColumnLayout, width: int) -> tuple[Embedding | PatchEmbedding, AnyHead]:
    """What makes tokens of cells, and what reads them."""
    if layout.patches is None:
        return Embedding(layout, width), Head(layout, width)
    own = ColumnLayout((layout.sizes[layout.target],), (layout.continuous[layout.target],), 0)
    return PatchEmbedding(layout.patches, Embedding(own, width), width), PatchHead(
        layout, layout.patches, width
    )


def _pick(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Rows (B, m) of x (B, n, d, e)."""
    return (
        x.flatten(-2)
        .gather(1, rows[..., None].expand(-1, -1, x.shape[-2] * x.shape[-1]))
        .unflatten(-1, x.shape[-2:])
    )


def _which_layers(settings: NPTSettings) -> list[bool]:
    """True for attention between datapoints; without one kind, the other's layers of the alternation remain."""
    alternating = [layer % 2 == 0 for layer in range(settings.layers)]
    if settings.between_datapoints and settings.between_attributes:
        return alternating
    kept = settings.between_datapoints
    return [kept] * max(1, settings.layers // 2)
