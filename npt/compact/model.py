"""The architecture of compact NPT: K independent networks (members) as one.

K members, n rows, m rows of the context, d features, e width of a token, r width of a row, C length
of a label.

An NPT (paper section 2) with changes. Numbers have piecewise-linear embeddings. Rows are
compressed to a narrow vector before attention between datapoints. And labels enter as values of
that attention, not as inputs: a row sees the labels of the context, and never its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from npt.compact.attention import AttributeAttention, DatapointAttention
from npt.compact.columns import Encoder, Features
from npt.compact.copying import Residuals, moved, near_rows, shown_beyond
from npt.compact.embedding import CellEmbedding
from npt.compact.layers import FeedForward, MemberLinear, normalised
from npt.compact.settings import CompactSettings

HEAD_SCALE = 0.5
PREDICTED_CELLS = 2**21  # attention weights that a prediction holds in memory


@dataclass(frozen=True)
class Context:
    """Rows that others attend to, as each block between datapoints sees them.

    Attributes:
        pairs: Keys and values of each block, (K, heads, m, r / heads).
        residuals: What is copied from the rows; None if nothing is.
    """

    pairs: tuple[tuple[Tensor, Tensor], ...]
    residuals: Residuals | None = None

    @property
    def chunk_size(self) -> int:
        """Number of rows for which a block's attention fits into memory."""
        members, heads, rows, _ = self.pairs[0][0].shape
        return max(1, PREDICTED_CELLS // (members * heads * rows))


class CompactNPT(nn.Module):
    """Attention between attributes, then between datapoints.

    Attributes:
        reach: Squared distance (K,) at which a copied residual weighs 1 / e; 0 copies nothing. It
            is chosen after the training.
    """

    between_datapoints: Sequence[DatapointAttention]
    reach: Tensor

    def __init__(self, encoder: Encoder, settings: CompactSettings) -> None:
        super().__init__()
        members = settings.members
        tokens = len(encoder.features) + 1
        self.members = members
        self.embedding = CellEmbedding(encoder, settings)
        self.between_attributes = AttributeAttention(settings)
        self.compress = MemberLinear(members, tokens * settings.token_width, settings.width)
        self.feed_forward = FeedForward(settings.width, settings)
        self.between_datapoints = nn.ModuleList(  # type: ignore[assignment]
            DatapointAttention(encoder.classes, settings) for _ in range(settings.layers)
        )
        self.head = MemberLinear(members, settings.width, encoder.classes, HEAD_SCALE)
        self.register_buffer("reach", torch.zeros(members))

    @property
    def copies(self) -> bool:
        """Whether predictions are moved by residuals of near rows."""
        return bool((self.reach > 0).all())

    def encode(self, features: Features, hidden: Tensor | None = None) -> Tensor:
        """Vectors (K, n, r) of rows, each of its own features alone."""
        tokens = self.embedding(features, hidden)  # (K, n, d + 1, e)
        tokens = self.between_attributes(tokens)  # (K, n, d + 1, e)
        tokens = normalised(tokens).flatten(2)  # (K, n, (d + 1) * e)
        rows = self.compress(tokens)  # (K, n, r)
        return self.feed_forward(rows)  # (K, n, r)

    def context(self, rows: Tensor, labels: Tensor) -> Context:
        """Keys and values of encoded rows (K, m, r) with labels (m, C)."""
        return Context(tuple(block.context(rows, labels) for block in self.between_datapoints))

    def context_with_residuals(
        self,
        rows: Tensor,
        labels: Tensor,
        queries: Tensor | None = None,
    ) -> Context:
        """The context, with the residuals of its rows, each predicted beside the others.

        It is without them where nothing is copied.

        Args:
            queries: Encoded rows (K, n, r), if no others are to be predicted: only the residuals
                that move these are computed, and others are zero.
        """
        context = self.context(rows, labels)
        if not self.copies or rows.shape[1] < 2:
            return context
        everything = torch.arange(rows.shape[1], device=rows.device)
        needed = everything if queries is None else near_rows(queries, rows)
        beyond = rows.new_zeros(len(rows), *labels.shape)
        for part in needed.split(context.chunk_size):
            is_itself = part[:, None] == everything
            outputs = self.attended(rows[:, part], context, is_itself)
            beyond[:, part] = shown_beyond(outputs, labels[part])
        return Context(context.pairs, Residuals(normalised(rows), beyond))

    def predict(
        self,
        rows: Tensor,
        context: Context,
        invisible: Tensor | None = None,
    ) -> Tensor:
        """Outputs (K, n, C) of encoded rows (K, n, r): logits, or standardised values.

        Args:
            invisible: Rows of the context that a row does not attend to; see `DatapointAttention`.
        """
        outputs = self.attended(rows, context, invisible)
        if context.residuals is None:
            return outputs
        return moved(outputs, rows, context.residuals, self.reach, invisible)

    def attended(
        self,
        rows: Tensor,
        context: Context,
        invisible: Tensor | None = None,
    ) -> Tensor:
        """Outputs (K, n, C) by attention alone."""
        for block, (keys, values) in zip(self.between_datapoints, context.pairs, strict=True):
            rows = block(rows, keys, values, invisible)  # (K, n, r)
        return self.head(normalised(rows))  # (K, n, C)

    def attention_weights(self, rows: Tensor, context: Context) -> list[Tensor]:
        """Attention (K, heads, n, m) of encoded rows in each block between datapoints."""
        weights = []
        for block, (keys, values) in zip(self.between_datapoints, context.pairs, strict=True):
            weights.append(block.weights(rows, keys))
            rows = block(rows, keys, values)
        return weights
