"""The NPT architecture (paper section 2 and Appendix C.1).

B tables, n rows, d columns with the target (of images: patches and the target), e width of a
column's token. A block attends over s positions of width M with k heads: between datapoints over
n rows of width d * e, between attributes over d columns of width e.

In evaluation, outputs can be computed of m query rows alone.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from npt.nn.block import Block, TiedBlock, take_rows
from npt.nn.column_layout import ColumnLayout
from npt.nn.embedding import ColumnEmbedding, ImageEmbedding, build_embedding
from npt.nn.head import ColumnHead, build_head
from npt.nn.inputs import Encodings, ModelInput
from npt.nn.kernels.dropout import Dropout
from npt.nn.settings import TIED_KERNELS, NPTSettings
from npt.nn.span import Span, locate


class NPT(nn.Module):
    """Alternating attention between datapoints and between attributes over an embedded table.

    Attributes:
        over_rows: Which blocks attend between datapoints.
        to_others: Which of them attend to all rows; in the rest, each row attends to itself alone.
        query_block: Index of the last block that attends to other rows, if there is any; later
            blocks need the query rows alone.
        recompute: Activations are recomputed in the backward pass.
    """

    column_types: Tensor

    def __init__(self, layout: ColumnLayout, settings: NPTSettings) -> None:
        super().__init__()
        d = layout.tokens
        e = settings.width
        self.layout = layout
        self.over_rows = settings.over_rows
        self.to_others = [over and settings.attends_to_others for over in self.over_rows]
        attending = [index for index, attends in enumerate(self.to_others) if attends]
        self.query_block = max(attending, default=None)
        self.recompute = False
        self.embedding = build_embedding(layout, e)
        self.head = build_head(layout, e)
        self.column_index = nn.Embedding(d, e)
        self.column_type = None
        if len(set(layout.continuous_tokens)) == 2:
            self.column_type = nn.Embedding(2, e)
        self.drop_embedded = Dropout(settings.hidden_dropout, site=0)
        self.drop_last = Dropout(settings.hidden_dropout, site=1)
        self.has_span = settings.kernel == "span"
        self.blocks = nn.ModuleList()
        kind = TiedBlock if settings.kernel in TIED_KERNELS else Block
        for index, over_rows in enumerate(self.over_rows):
            width = d * e if over_rows else e
            span = Span(layout, settings) if over_rows and self.has_span else None
            block_settings = settings
            if over_rows and not self.to_others[index]:
                block_settings = settings.changed(attention_dropout=0)  # its own weight stays 1
            self.blocks.append(kind(width, block_settings, 4 * (index + 1), span))
        column_types = torch.tensor(layout.continuous_tokens).long()
        self.register_buffer("column_types", column_types, persistent=False)

    def forward(
        self,
        inputs: ModelInput,
        rows: Tensor | None = None,
        context: int | None = None,
    ) -> Tensor:
        """Tokens (B, n, d, e) of all cells, from which `head` makes predictions.

        Args:
            rows: Query rows (B, m); the output is their tokens (B, m, d, e), at less cost.
            context: Number of first rows that are attended to; by default all.
        """
        x = self.embed(inputs)  # (B, n, d, e)
        located = self._locate(inputs)  # (B, n, f)
        if rows is not None and self.query_block is None:
            x = take_rows(x, rows)  # (B, m, d, e)
        for index in range(len(self.blocks)):
            queries = rows if index == self.query_block else None
            x = self.apply_block(index, x, queries, context, located)  # (B, m, d, e)
        return self.drop_last(x)  # (B, m, d, e)

    def apply_block(
        self,
        index: int,
        x: Tensor,
        rows: Tensor | None = None,
        context: int | None = None,
        located: Tensor | None = None,
    ) -> Tensor:
        """Attention between datapoints or attributes: (B, n, d, e) to (B, m, d, e)."""
        if self.to_others[index]:
            y = self._run(index, x.flatten(2), rows, context, located)  # (B, m, d * e)
            return y.unflatten(2, x.shape[2:])  # (B, m, d, e)
        by_row = x.flatten(0, 1)  # (B * n, d, e)
        if self.over_rows[index]:
            by_row = by_row.flatten(1)[:, None]  # (B * n, 1, d * e)
        return self._run(index, by_row).view(x.shape)  # (B, n, d, e)

    def _run(self, index: int, *inputs: Tensor | int | None) -> Tensor:
        block = self.blocks[index]
        if self.recompute and torch.is_grad_enabled():
            return checkpoint(block, *inputs, use_reentrant=False)
        return block(*inputs)

    def embed(self, inputs: ModelInput) -> Tensor:
        """Tokens (B, n, d, e) of the cells' content, and of their columns' index and type."""
        x = self.embedding(inputs) + self.column_index.weight  # (B, n, d, e)
        if self.column_type is not None:
            x = x + self.column_type(self.column_types)  # (B, n, d, e)
        return self.drop_embedded(x)  # (B, n, d, e)

    def encoded(self, inputs: ModelInput) -> ModelInput:
        """Images as their encodings, which need not be computed again; other inputs as they are."""
        if not isinstance(self.embedding, ImageEmbedding):
            return inputs
        vectors = self.embedding.encode(inputs)  # (B, n, e)
        zeros = torch.zeros_like(vectors)
        return Encodings(codes=zeros.long(), scale=vectors, mask=zeros)

    def target_tokens(self, *arguments: Any) -> Tensor:
        """Tokens (B, m, e) of the target; arguments as in `forward`."""
        return self(*arguments)[:, :, self.layout.target_token]

    def predict_target(self, inputs: ModelInput, rows: Tensor | None = None) -> Tensor:
        """Target outputs (B, m, C), logits or standardised values; arguments as in `forward`."""
        return self.head.target(self.target_tokens(inputs, rows))

    def attention_weights(self, inputs: ModelInput, rows: Tensor) -> dict[int, Tensor]:
        """Attention (B, k, m, n) of query rows (B, m) in blocks that attend to others, by index."""
        weights = {}
        x = self.embed(inputs)  # (B, n, d, e)
        located = self._locate(inputs)  # (B, n, f)
        for index, block in enumerate(self.blocks):
            if self.to_others[index]:
                assert isinstance(block, Block)
                weights[index] = block.probabilities(x.flatten(2), rows, located)  # (B, k, m, n)
            x = self.apply_block(index, x, located=located)  # (B, n, d, e)
        return weights

    def segments(self) -> dict[nn.Parameter, list[int]]:
        """Parameters that are fused of several tensors of the paper, with their row counts."""
        segments = {}
        for module in self.modules():
            if isinstance(module, ColumnEmbedding | ColumnHead):
                segments.update(module.segments())
        return segments

    def set_dropout_key(self, key: int) -> None:
        """Seed the masks of the next forward pass on the CPU."""
        for module in self.modules():
            if isinstance(module, Dropout):
                module.key = key

    def _locate(self, inputs: ModelInput) -> Tensor | None:
        return locate(inputs, self.layout) if self.has_span else None
