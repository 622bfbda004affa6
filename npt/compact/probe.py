"""A compact NPT under a probe: parts of its context, a perturbed context, and attention.

The context is encoded once; only other features are encoded anew. Residuals that are copied depend
on all rows of a context; those of the rows nearest to a query are computed anew for each.

K members, q query rows, m rows of the context, r width of a row, d columns with the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from npt.compact.columns import Features
from npt.compact.model import CompactNPT
from npt.compact.trained import TrainedCompactNPT
from npt.nn.trained_network import build_model
from npt.perturbation import InputLayout
from npt.probing import QueryGroup, RowAttention, RowProbe
from npt.table import Split, Table


@dataclass(frozen=True)
class CompactProbe(RowProbe):
    """A probe of a compact NPT, whose context are train rows, or duplicates in the lookup task."""

    trained: TrainedCompactNPT

    @property
    def lookup(self) -> str:
        """Variant of the lookup task."""
        return self.trained.settings.lookup

    def query_groups(self, rows: np.ndarray) -> Iterator[ContextQueries]:
        """Rows in the whole context, as many as a prediction takes at once."""
        for indices, model in self.trained.in_contexts(rows):
            context = model.context_rows
            if self.lookup != "off":
                context = model.table.rows + context
            size = model.context.chunk_size
            for start in range(0, len(indices), size):
                chunk = rows[indices[start : start + size]]
                yield ContextQueries(chunk, [context] * len(chunk), model, model.encoded(chunk))

    @torch.no_grad()
    def attention(self, rows: np.ndarray) -> Iterator[RowAttention]:
        """Attention of rows to the whole context.

        Layers between attributes count in the index of a layer. The heads of a layer are those of
        all members, one member after another.
        """
        for group in self.query_groups(rows):
            trained = group.trained
            heads = {}
            if trained.settings.between_datapoints:
                blocks = trained.precise.attention_weights(group.encoded, trained.context)
                for layer, weights in enumerate(blocks, start=1):
                    heads[layer] = weights.flatten(0, 1).cpu().numpy()  # (K * heads, q, m)
            for query, row in enumerate(group.rows.tolist()):
                by_layer = {layer: weights[:, query] for layer, weights in heads.items()}
                yield RowAttention(row, group.contexts[query], by_layer)

    def before_training(self) -> CompactProbe:
        """The same network with its initial weights."""
        trained = self.trained
        arguments = (trained.encoder, trained.settings)
        model = build_model(CompactNPT, trained.seed, trained.device, *arguments)
        return CompactProbe(replace(trained, model=model.eval()))

    def with_table(self, table: Table, split: Split) -> CompactProbe:
        """The same network with another table of the same columns and rows."""
        return CompactProbe(replace(self.trained, table=table, split=split))

    def without_duplicates(self) -> CompactProbe:
        """The same network beside rows that show no label."""
        return CompactProbe(replace(self.trained, shows_labels=False))


@dataclass(frozen=True)
class ContextQueries(QueryGroup):
    """Query rows in the context of a trained network.

    Attributes:
        encoded: Vectors (K, q, r) of the rows, in double precision.
    """

    trained: TrainedCompactNPT
    encoded: Tensor

    def layout(self, query: int) -> InputLayout:
        """Of a row and its context."""
        trained = self.trained
        parts = trained.parts[np.append(self.rows[query], trained.context_rows)]
        return InputLayout(parts, len(trained.encoder.columns), trained.target)

    @torch.no_grad()
    def predict_from(self, queries: Sequence[int], cells: Sequence[np.ndarray]) -> np.ndarray:
        """Predictions of queries in contexts of other cells."""
        outputs = []
        for query, sources in zip(queries, cells, strict=True):
            outputs.append(self._output(self.encoded[:, [query]], sources[1:] - 1))
        return self.trained.decode(torch.cat(outputs, 1)).values

    def _output(self, query: Tensor, sources: np.ndarray) -> Tensor:
        """Output (K, 1, C) of an encoded query (K, 1, r) in a context of other cells.

        Args:
            sources: Row (m, d) of each cell, as indices of the context, or (m, 1) of each row.
        """
        trained = self.trained
        cells = torch.from_numpy(sources).to(trained.device)
        if sources.shape[1] == 1:
            rows = trained.encoded_context[:, cells[:, 0]]
            labels = trained.context_labels[cells[:, 0]]
        else:
            rows = trained.encoded_context
            labels = trained.context_labels[cells[:, trained.target]]
            encoder = trained.encoder
            if (sources != np.arange(len(sources))[:, None])[:, encoder.features].any():
                columns = (encoder.numeric, encoder.numeric, encoder.categorical, encoder.features)
                pairs = zip(trained.context_features, columns, strict=True)
                gathered = [part.gather(0, cells[:, indices]) for part, indices in pairs]
                rows = trained.precise.encode(Features(*gathered))
        context = trained.precise.context_with_residuals(rows, labels, query)
        return trained.precise.predict(query, context)
