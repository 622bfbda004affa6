"""A compact NPT under a probe: parts of its context, a perturbed context, and attention.

The context is encoded once. Keys and values belong to single rows, so a deleted row is an invisible
one, other labels change only values, and only rows with other features are encoded anew. Residuals
that are copied depend on all rows of a context; those of the rows nearest to a query are computed
anew for each.

K members, q query rows, m rows of the context, r width of a row, d columns with the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from npt.compact.columns import Features
from npt.interface import RowAttention
from npt.perturbation import InputLayout, Perturbation
from npt.table import PARTS

if TYPE_CHECKING:
    from npt.compact.trained import TrainedCompactNPT


@dataclass(frozen=True)
class ContextQueries:
    """Query rows in the context of a trained network.

    Attributes:
        rows: Row numbers (q,).
        encoded: Vectors (K, q, r) of the rows, in double precision.
    """

    trained: TrainedCompactNPT
    rows: np.ndarray
    encoded: Tensor

    @property
    def contexts(self) -> list[np.ndarray]:
        """Row numbers (m,) of the context, for each query."""
        return [self.trained.context_numbers] * len(self.rows)

    def predict(
        self,
        queries: Sequence[int],
        kept: Sequence[np.ndarray],
    ) -> np.ndarray:
        """Prediction of each of some queries among the kept rows of its context."""
        outputs = self.outputs(queries, kept)
        return self.trained.decode(outputs).values

    @torch.no_grad()
    def outputs(
        self,
        queries: Sequence[int],
        kept: Sequence[np.ndarray],
    ) -> Tensor:
        """Outputs (K, k, C) of some queries, each among the kept rows of its context."""
        if self.trained.model.copies:
            outputs = []
            for query, remaining in zip(queries, kept, strict=True):
                outputs.append(self._output_among(query, remaining))
            return torch.cat(outputs, 1)
        trained = self.trained
        device = self.encoded.device
        shape = (len(kept), len(trained.context_rows))
        deleted = np.ones(shape, np.bool_)
        for line, remaining in zip(deleted, kept, strict=True):
            line[remaining] = False
        needed = np.flatnonzero(~deleted.all(0))
        rows = torch.from_numpy(needed).to(device)
        context = trained.context.take(rows)
        invisible = torch.from_numpy(deleted[:, needed]).to(device)
        chosen = torch.tensor(list(queries), device=device)
        encoded = self.encoded[:, chosen]
        return trained.precise.predict(encoded, context, invisible)

    def _output_among(self, query: int, kept: np.ndarray) -> Tensor:
        """Output (K, 1, C) of a query among some rows, whose residuals are among them, too."""
        trained = self.trained
        rows = torch.from_numpy(kept).to(self.encoded.device)
        encoded = trained.encoded_context[:, rows]
        labels = trained.context_labels[rows]
        encoded_query = self.encoded[:, [query]]
        context = trained.precise.context_of_prediction(encoded, labels, encoded_query)
        return trained.precise.predict(encoded_query, context)


@torch.no_grad()
def attention_of(group: ContextQueries) -> Iterator[RowAttention]:
    """Attention of the query rows to the whole context.

    Layers between attributes count in the index of a layer. The heads of a layer are those of all
    members, one member after another.
    """
    trained = group.trained
    by_layer = {}
    if trained.settings.between_datapoints:
        of_blocks = trained.precise.attention_weights(group.encoded, trained.context)
        for layer, of_block in enumerate(of_blocks, start=1):
            of_heads = of_block.flatten(0, 1)  # (K * heads, q, m)
            by_layer[layer] = of_heads.cpu().numpy()
    for place, row in enumerate(group.rows.tolist()):
        weights = {}
        for layer, of_layer in by_layer.items():
            weights[layer] = of_layer[:, place]
        context = group.contexts[place]
        yield RowAttention(row, context, weights)


def perturbed_outputs(
    trained: TrainedCompactNPT,
    rows: np.ndarray,
    perturbation: Perturbation,
    seed: int,
) -> Tensor:
    """Outputs (K, q, C) of rows, each with the context perturbed for it by independent draws."""
    by_row: dict[int, Tensor] = {}
    for group in trained.query_groups(rows):
        outputs = _perturbed(group, perturbation, seed)
        of_group = zip(group.rows.tolist(), outputs.unbind(1), strict=True)
        by_row.update(of_group)
    in_order = [by_row[row] for row in rows.tolist()]
    return torch.stack(in_order, 1)


@torch.no_grad()
def _perturbed(
    group: ContextQueries,
    perturbation: Perturbation,
    seed: int,
) -> Tensor:
    """Outputs (K, q, C) of a group."""
    trained = group.trained
    layout = context_layout(trained, group.rows[0])
    if not perturbation.chosen_rows(layout)[1:].any():
        return trained.precise.predict(group.encoded, trained.context)
    sources = []
    for row in group.rows.tolist():
        of_row = context_sources(trained, perturbation, seed, row)
        sources.append(of_row)
    if perturbation.kind == "delete":
        kept = [of_row[:, 0] for of_row in sources]
        return group.outputs(range(len(kept)), kept)
    outputs = []
    for place, of_row in enumerate(sources):
        output = _shuffled_output(group, place, of_row)
        outputs.append(output)
    return torch.cat(outputs, 1)


def context_sources(
    trained: TrainedCompactNPT,
    perturbation: Perturbation,
    seed: int,
    row: int,
) -> np.ndarray:
    """Where each cell of the perturbed context comes from (m, d), as indices of the context."""
    layout = context_layout(trained, row)
    sources = perturbation.sources(seed, row, 0, layout)
    return sources[1:] - 1


def context_layout(trained: TrainedCompactNPT, row: int) -> InputLayout:
    """Parts of a query row, which comes first, and of its context: train rows, but in lookup."""
    columns = len(trained.encoder.columns)
    if trained.lookup != "off":
        rows = np.append(row, trained.context_rows)
        return InputLayout(trained.parts[rows], columns, trained.target)
    parts = np.full(len(trained.context_rows) + 1, PARTS.index("train"))
    parts[0] = PARTS.index("test")
    return InputLayout(parts, columns, trained.target)


@torch.no_grad()
def _shuffled_output(group: ContextQueries, place: int, sources: np.ndarray) -> Tensor:
    """Output (K, 1, C) of a query in a context of other cells.

    Args:
        sources: Row (m, d) of each cell, as indices of the context.
    """
    trained = group.trained
    query = group.encoded[:, [place]]
    cells = torch.from_numpy(sources).to(trained.device)
    labels = trained.context_labels[cells[:, trained.target]]
    own = np.arange(len(sources))[:, None]
    features = list(trained.encoder.features)
    is_changed = (sources != own)[:, features].any(1)
    if not is_changed.any() and trained.model.copies:
        rows = trained.encoded_context
        context = trained.precise.context_of_prediction(rows, labels, query)
        return trained.precise.predict(query, context)
    if not is_changed.any():
        change = labels - trained.context_labels
        context = trained.precise.with_labels(trained.context, change)
        return trained.precise.predict(query, context)
    changed = torch.from_numpy(np.flatnonzero(is_changed)).to(trained.device)
    pooled = _gathered(trained, cells[changed])
    encoded = trained.model.encode(pooled)
    rows = trained.encoded_context.float()
    rows = rows.index_copy(1, changed, encoded)
    query = query.float()
    context = trained.model.context_of_prediction(rows, labels.float(), query)
    return trained.model.predict(query, context).double()


def _gathered(trained: TrainedCompactNPT, cells: Tensor) -> Features:
    """Features whose cells come from rows (n, d) of the context, column by column."""
    encoder = trained.encoder
    pool = trained.context_features
    features = cells[:, list(encoder.features)]
    numeric = cells[:, list(encoder.numeric)]
    categorical = cells[:, list(encoder.categorical)]
    return Features(
        numbers=pool.numbers.gather(0, numeric),
        positions=pool.positions.gather(0, numeric),
        codes=pool.codes.gather(0, categorical),
        missing=pool.missing.gather(0, features),
    )
