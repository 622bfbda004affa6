"""The NPT architecture (paper section 2 and Appendix C.1).

B tables, n rows, d columns with the target (or, for images, patches and the target), e width of a column's token, k heads.
A block attends over s positions of width M: between datapoints over n rows of width d * e, between attributes over d columns of
width e. Of m query rows or positions alone an output is computed.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from npt.nn.column_layout import ColumnLayout
from npt.nn.embedding import build_embedding
from npt.nn.head import build_head
from npt.nn.inputs import ModelInput
from npt.nn.kernels.attention import AttentionDropout, dot_product
from npt.nn.kernels.dropout import Dropout, DropoutMasks
from npt.nn.kernels.projections import initialised_jointly, project
from npt.nn.settings import NPTSettings


class NPT(nn.Module):
    """Alternating attention between datapoints and between attributes over an embedded table.

    Attributes:
        over_rows: Which blocks attend between datapoints.
        query_block: Index of the last of these; later blocks need the query rows alone.
        recompute: Activations are recomputed in the backward pass.
    """

    column_types: torch.Tensor

    def __init__(self, layout: ColumnLayout, settings: NPTSettings) -> None:
        super().__init__()
        d, e = layout.tokens, settings.width
        self.layout = layout
        self.over_rows = _alternation(settings)
        self.query_block = max((i for i, over in enumerate(self.over_rows) if over), default=0)
        self.recompute = False
        self.dropout_masks = DropoutMasks()
        self.embedding = build_embedding(layout, e)
        self.head = build_head(layout, e)
        self.column_index = nn.Embedding(d, e)
        self.column_type = nn.Embedding(2, e) if len(set(layout.continuous_tokens)) == 2 else None
        self.drop_embedded = Dropout(settings.hidden_dropout, self.dropout_masks, site=0)
        self.drop_last = Dropout(settings.hidden_dropout, self.dropout_masks, site=1)
        self.blocks = nn.ModuleList()
        for index, over_rows in enumerate(self.over_rows):
            width = d * e if over_rows else e
            self.blocks.append(Block(width, settings, self.dropout_masks, site=4 * (index + 1)))
        column_types = torch.tensor(layout.continuous_tokens).long()
        self.register_buffer("column_types", column_types, persistent=False)

    def forward(
        self,
        inputs: ModelInput,
        rows: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Tokens (B, n, d, e) of all cells; `head` turns them into predictions.

        Args:
            rows: Query rows (B, m); the output is their tokens (B, m, d, e), at less cost.
            present: Rows (B, n) that are not padding, so that tables of different lengths form one input; for evaluation.
        """
        x = self.embed(inputs)  # (B, n, d, e)
        for index in range(len(self.blocks)):
            queries = rows if index == self.query_block else None
            x = self._apply_block(index, x, queries, present)  # (B, m, d, e)
        return self.drop_last(x)  # (B, m, d, e)

    def embed(self, inputs: ModelInput) -> torch.Tensor:
        """Tokens (B, n, d, e) before the first block: cell, index of the column and type of the column."""
        x = self.embedding(inputs) + self.column_index.weight  # (B, n, d, e)
        if self.column_type is not None:
            x = x + self.column_type(self.column_types)  # (B, n, d, e)
        return self.drop_embedded(x)  # (B, n, d, e)

    def predict_target(
        self,
        inputs: ModelInput,
        rows: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Target outputs (B, m, C): logits, or standardised values; the arguments are those of `forward`."""
        tokens = self(inputs, rows, present)  # (B, m, d, e)
        return self.head.target(tokens[:, :, self.layout.target_token])  # (B, m, C)

    def attention_weights(self, inputs: ModelInput, rows: torch.Tensor) -> dict[int, torch.Tensor]:
        """Attention (B, k, m, n) of query rows (B, m) in every block between datapoints, by the block's index."""
        weights = {}
        x = self.embed(inputs)  # (B, n, d, e)
        for index, block in enumerate(self.blocks):
            if self.over_rows[index]:
                assert isinstance(block, Block)
                weights[index] = block.probabilities(x.flatten(2), rows)  # (B, k, m, n)
            x = self._apply_block(index, x)  # (B, n, d, e)
        return weights

    def segments(self) -> dict[nn.Parameter, list[int]]:
        """Parameters that are fused of several tensors of the paper, with the row counts of these."""
        return self.embedding.segments() | self.head.segments()

    def _apply_block(
        self,
        index: int,
        x: torch.Tensor,
        queries: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attention between datapoints or between attributes: (B, n, d, e) to (B, m, d, e)."""
        block = self.blocks[index]
        if self.over_rows[index]:
            context = x.flatten(2)  # (B, n, d * e)
            if queries is None:
                y = self._run(block, context, None, present)  # (B, n, d * e)
            else:
                y = self._run(block, take_rows(context, queries), context, present)  # (B, m, d * e)
            return y.unflatten(2, x.shape[2:])  # (B, m, d, e)
        if queries is not None:
            x = take_rows(x, queries)  # (B, m, d, e)
        return self._run(block, x.flatten(0, 1)).view(x.shape)  # (B, m, d, e)

    def _run(self, block: nn.Module, *inputs: torch.Tensor | None) -> torch.Tensor:
        if self.recompute and torch.is_grad_enabled():
            return checkpoint(block, *inputs, use_reentrant=False)
        return block(*inputs)


class Block(nn.Module):
    """Multi-head self-attention with a projected residual, then a feed-forward layer; LayerNorm before each.

    By default only the queries' input is normed; with `layer_norm_on: all` the keys' and values' too.
    """

    def __init__(
        self, width: int, settings: NPTSettings, masks: DropoutMasks | None = None, site: int = 0
    ) -> None:
        super().__init__()
        if width % settings.heads:
            raise ValueError(f"block width {width} is not a multiple of {settings.heads} heads")
        masks = masks or DropoutMasks()
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
        self.drop_attention = AttentionDropout(settings.attention_dropout, masks, site)
        self.drop_mixed = Dropout(settings.hidden_dropout, masks, site + 1)
        self.drop_widened = Dropout(settings.hidden_dropout, masks, site + 2)
        self.drop_narrowed = Dropout(settings.hidden_dropout, masks, site + 3)

    def forward(
        self,
        x: torch.Tensor,
        context: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Outputs (..., m, M) of the positions x (..., m, M).

        Args:
            context: Positions (..., s, M) that are attended to; by default x itself.
            present: Positions (B, s) of the context that are attended to; by default all.
        """
        queries, keys, values, residual = self.project(x, context)  # (..., m or s, M)
        attended = self.attend(queries, keys, values, present)  # (..., m, M)
        hidden = self.drop_mixed.add(residual, self.mix(attended))  # (..., m, M)
        widened = nn.functional.gelu(self.widen(self.norm_feed_forward(hidden)))  # (..., m, 4 M)
        return self.drop_narrowed.add(hidden, self.narrow(self.drop_widened(widened)))

    def project(self, x: torch.Tensor, context: torch.Tensor | None) -> list[torch.Tensor]:
        """Queries (..., m, M), keys and values (..., s, M), and residual (..., m, M)."""
        normed = self.norm_attention(x)  # (..., m, M)
        if context is None:
            source = normed if self.norm_all else x  # (..., m, M)
        else:
            source = self.norm_attention(context) if self.norm_all else context  # (..., s, M)
        return project(
            (self.query, normed), (self.key, source), (self.value, source), (self.residual, x)
        )

    def attend(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        present: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Multi-head attention of queries (..., m, M) to keys and values (..., s, M): (..., m, M)."""
        outputs = dot_product(
            self.by_head(queries),
            self.by_head(keys),
            self.by_head(values),
            scale=self.scale,
            dropout=self.drop_attention if self.training else None,
            present=present,
        )  # (..., k, m, M / k)
        return outputs.transpose(-2, -3).flatten(-2)  # (..., m, M)

    def probabilities(self, x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Attention probabilities (B, k, m, s) of positions `rows` (B, m) to all positions of x (B, s, M)."""
        queries, keys, _, _ = self.project(take_rows(x, rows), x)
        scores = self.by_head(queries) @ self.by_head(keys).transpose(-1, -2) * self.scale
        return scores.float().softmax(-1)  # (B, k, m, s)

    def by_head(self, x: torch.Tensor) -> torch.Tensor:
        """(..., s, M) to (..., k, s, M / k)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(-2, -3)


def take_rows(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Entries `rows` (B, m) of the second dimension of x (B, n, ...)."""
    indices = rows.view(*rows.shape, *[1] * (x.ndim - 2))
    return torch.take_along_dim(x, indices, 1)  # (B, m, ...)


def _alternation(settings: NPTSettings) -> list[bool]:
    """True for a block between datapoints; without one kind, the other's half of the blocks remains."""
    if settings.between_datapoints and settings.between_attributes:
        return [index % 2 == 0 for index in range(settings.layers)]
    return [settings.between_datapoints] * max(1, settings.layers // 2)
