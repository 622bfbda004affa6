"""The NPT architecture (paper section 2 and Appendix C.1).

B tables, n rows, d columns with the target (of images: patches and the target), e width of a
column's token. A block attends over s positions of width M with k heads: between datapoints over
n rows of width d * e, between attributes over d columns of width e.

In evaluation, outputs can be computed of m query rows alone.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from npt.nn.column_layout import ColumnLayout
from npt.nn.embedding import build_embedding
from npt.nn.gaussian import Gaussians
from npt.nn.head import build_head
from npt.nn.inputs import ModelInput
from npt.nn.kernels.attention import AttentionDropout, dot_product
from npt.nn.kernels.dropout import Dropout, DropoutMasks
from npt.nn.kernels.projections import initialised_jointly, project
from npt.nn.losses import target_gaussians
from npt.nn.settings import NPTSettings


class NPT(nn.Module):
    """Alternating attention between datapoints and between attributes over an embedded table.

    Attributes:
        over_rows: Which blocks attend between datapoints.
        query_block: Index of the last of them; later blocks need the query rows alone.
        recompute: Activations are recomputed in the backward pass.
    """

    column_types: Tensor

    def __init__(self, layout: ColumnLayout, settings: NPTSettings) -> None:
        super().__init__()
        d = layout.tokens
        e = settings.width
        self.layout = layout
        self.over_rows = settings.over_rows
        self.query_block = _last(self.over_rows)
        self.recompute = False
        self.dropout_masks = DropoutMasks()
        self.embedding = build_embedding(layout, e)
        self.head = build_head(layout, e)
        self.column_index = nn.Embedding(d, e)
        self.column_type = None
        if len(set(layout.continuous_tokens)) == 2:
            self.column_type = nn.Embedding(2, e)
        self.drop_embedded = Dropout(settings.hidden_dropout, self.dropout_masks, site=0)
        self.drop_last = Dropout(settings.hidden_dropout, self.dropout_masks, site=1)
        self.blocks = nn.ModuleList()
        for index, over_rows in enumerate(self.over_rows):
            width = d * e if over_rows else e
            block = Block(width, settings, self.dropout_masks, site=4 * (index + 1))
            self.blocks.append(block)
        column_types = torch.tensor(layout.continuous_tokens).long()
        self.register_buffer("column_types", column_types, persistent=False)

    def forward(
        self,
        inputs: ModelInput,
        rows: Tensor | None = None,
        present: Tensor | None = None,
    ) -> Tensor:
        """Tokens (B, n, d, e) of all cells, from which `head` makes predictions.

        Args:
            rows: Query rows (B, m); the output is their tokens (B, m, d, e), at less cost.
            present: Rows (B, n) that are not padding, where tables of different lengths form one
                input; for evaluation.
        """
        x = self.embed(inputs)  # (B, n, d, e)
        for index in range(len(self.blocks)):
            queries = rows if index == self.query_block else None
            x = self._apply_block(index, x, queries, present)  # (B, m, d, e)
        return self.drop_last(x)  # (B, m, d, e)

    def embed(self, inputs: ModelInput) -> Tensor:
        """Tokens (B, n, d, e) of the cells' content, and of their columns' index and type."""
        x = self.embedding(inputs) + self.column_index.weight  # (B, n, d, e)
        if self.column_type is not None:
            x = x + self.column_type(self.column_types)  # (B, n, d, e)
        return self.drop_embedded(x)  # (B, n, d, e)

    def predict_target(
        self,
        inputs: ModelInput,
        rows: Tensor | None = None,
        present: Tensor | None = None,
    ) -> Tensor:
        """Target outputs (B, m, C), logits or standardised values; arguments as in `forward`."""
        tokens = self(inputs, rows, present)  # (B, m, d, e)
        return self.head.target(tokens[:, :, self.layout.target_token])  # (B, m, C)

    def target_gaussians(
        self,
        inputs: ModelInput,
        rows: Tensor | None = None,
        present: Tensor | None = None,
    ) -> Gaussians:
        """Gaussians (1, B, m) of the standardised target; arguments as in `forward`."""
        tokens = self(inputs, rows, present)  # (B, m, d, e)
        of_target = tokens[:, :, self.layout.target_token]  # (B, m, e)
        return target_gaussians(self.head, of_target[None])

    def attention_weights(self, inputs: ModelInput, rows: Tensor) -> dict[int, Tensor]:
        """Attention (B, k, m, n) of query rows (B, m) in blocks between datapoints, by index."""
        weights = {}
        x = self.embed(inputs)  # (B, n, d, e)
        for index, block in enumerate(self.blocks):
            if self.over_rows[index]:
                assert isinstance(block, Block)
                weights[index] = block.probabilities(x.flatten(2), rows)  # (B, k, m, n)
            x = self._apply_block(index, x)  # (B, n, d, e)
        return weights

    def segments(self) -> dict[nn.Parameter, list[int]]:
        """Parameters that are fused of several tensors of the paper, with their row counts."""
        return self.embedding.segments() | self.head.segments()

    def _apply_block(
        self,
        index: int,
        x: Tensor,
        queries: Tensor | None = None,
        present: Tensor | None = None,
    ) -> Tensor:
        """Attention between datapoints or attributes: (B, n, d, e) to (B, m, d, e)."""
        if self.over_rows[index]:
            return self._between_datapoints(index, x, queries, present)
        if queries is not None:
            x = take_rows(x, queries)  # (B, m, d, e)
        y = self._run(index, x.flatten(0, 1))  # (B * m, d, e)
        return y.view(x.shape)  # (B, m, d, e)

    def _between_datapoints(
        self,
        index: int,
        x: Tensor,
        queries: Tensor | None,
        present: Tensor | None,
    ) -> Tensor:
        context = x.flatten(2)  # (B, n, d * e)
        if queries is None:
            y = self._run(index, context, None, present)  # (B, n, d * e)
        else:
            x_queries = take_rows(context, queries)  # (B, m, d * e)
            y = self._run(index, x_queries, context, present)  # (B, m, d * e)
        return y.unflatten(2, x.shape[2:])  # (B, m, d, e)

    def _run(self, index: int, *inputs: Tensor | None) -> Tensor:
        block = self.blocks[index]
        if self.recompute and torch.is_grad_enabled():
            return checkpoint(block, *inputs, use_reentrant=False)
        return block(*inputs)


class Block(nn.Module):
    """Multi-head attention with a projected residual, then a feed-forward layer.

    LayerNorm is on the queries' input (with `layer_norm_on: all`, also the keys' and values') and
    before the feed-forward layer.
    """

    def __init__(
        self,
        width: int,
        settings: NPTSettings,
        masks: DropoutMasks | None = None,
        site: int = 0,
    ) -> None:
        super().__init__()
        if width % settings.heads:
            raise ValueError(f"block width {width} is not a multiple of {settings.heads} heads")
        self.heads = settings.heads
        self.scale = width**-0.5
        self.norm_all = settings.layer_norm_on == "all"
        self.norm_attention = nn.LayerNorm(width, eps=1e-12)
        if self.norm_all:
            self.query, self.key, self.value = initialised_jointly(width, 3)
            self.residual = nn.Linear(width, width)
        else:
            self.query = nn.Linear(width, width)
            self.key, self.value, self.residual = initialised_jointly(width, 3)
        self.mix = nn.Linear(width, width)
        self.norm_feed_forward = nn.LayerNorm(width, eps=1e-12)
        self.widen = nn.Linear(width, settings.feed_forward * width)
        self.narrow = nn.Linear(settings.feed_forward * width, width)
        masks = masks or DropoutMasks()
        self.drop_attention = AttentionDropout(settings.attention_dropout, masks, site)
        self.drop_mixed = Dropout(settings.hidden_dropout, masks, site + 1)
        self.drop_widened = Dropout(settings.hidden_dropout, masks, site + 2)
        self.drop_narrowed = Dropout(settings.hidden_dropout, masks, site + 3)

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        present: Tensor | None = None,
    ) -> Tensor:
        """Outputs (..., m, M) of the positions x (..., m, M).

        Args:
            context: Positions (..., s, M) that are attended to; by default x itself.
            present: Which of them (B, s); by default all.
        """
        queries, keys, values, residual = self.project(x, context)
        attended = self.attend(queries, keys, values, present)  # (..., m, M)
        hidden = self.drop_mixed.add(residual, self.mix(attended))  # (..., m, M)
        widened = self.widen(self.norm_feed_forward(hidden))  # (..., m, 4 M)
        activated = self.drop_widened(nn.functional.gelu(widened))  # (..., m, 4 M)
        return self.drop_narrowed.add(hidden, self.narrow(activated))  # (..., m, M)

    def project(self, x: Tensor, context: Tensor | None = None) -> list[Tensor]:
        """Queries (..., m, M), keys and values (..., s, M), and residual (..., m, M)."""
        normed = self.norm_attention(x)  # (..., m, M)
        if context is None:
            source = normed if self.norm_all else x  # (..., m, M)
        else:
            source = self.norm_attention(context) if self.norm_all else context  # (..., s, M)
        return project(
            (self.query, normed),
            (self.key, source),
            (self.value, source),
            (self.residual, x),
        )

    def attend(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        present: Tensor | None = None,
    ) -> Tensor:
        """Attention of queries (..., m, M) to keys and values (..., s, M): (..., m, M)."""
        outputs = dot_product(
            self.by_head(queries),
            self.by_head(keys),
            self.by_head(values),
            scale=self.scale,
            dropout=self.drop_attention if self.training else None,
            present=present,
        )  # (..., k, m, M / k)
        return outputs.transpose(-2, -3).flatten(-2)  # (..., m, M)

    def probabilities(self, x: Tensor, rows: Tensor) -> Tensor:
        """Attention (B, k, m, s) of positions `rows` (B, m) to all positions of x (B, s, M)."""
        queries, keys, _, _ = self.project(take_rows(x, rows), x)
        queries = self.by_head(queries)  # (B, k, m, M / k)
        keys = self.by_head(keys)  # (B, k, s, M / k)
        scores = queries @ keys.transpose(-1, -2) * self.scale  # (B, k, m, s)
        return scores.float().softmax(-1)  # (B, k, m, s)

    def by_head(self, x: Tensor) -> Tensor:
        """(..., s, M) to (..., k, s, M / k)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(-2, -3)


def take_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Rows (B, m) of x (B, n, ...)."""
    indices = rows.view(*rows.shape, *[1] * (x.ndim - 2))
    return torch.take_along_dim(x, indices, 1)  # (B, m, ...)


def _last(over_rows: list[bool]) -> int:
    """Index of the last block between datapoints, or 0 if there is none."""
    indices = [index for index, over in enumerate(over_rows) if over]
    return max(indices, default=0)
