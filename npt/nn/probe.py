"""NPT under a probe: query rows in parts of their batch, several in one forward pass.

n rows of an input, d columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from npt.nn.device import evaluating
from npt.nn.embedding import ImageEmbedding
from npt.nn.inputs import PART, Encodings
from npt.nn.model import NPT
from npt.nn.trained import QueryBatch, TrainedNPT, copies_at_once, query_batches
from npt.nn.trained_network import build_model, decoded
from npt.perturbation import InputLayout, Perturbation
from npt.probing import QueryGroup, RowAttention, RowProbe
from npt.table import Split, Table


@dataclass(frozen=True)
class NPTProbe(RowProbe):
    """A probe of the exact NPT, in which the context of a row is the rest of its batch.

    In the lookup task a batch has the duplicates of its rows too, which belong to their parts. Of
    images with an encoder, the encodings are perturbed instead of the pixels.
    """

    trained: TrainedNPT

    @property
    def lookup(self) -> str:
        """Variant of the lookup task."""
        return self.trained.settings.lookup

    def query_groups(self, rows: np.ndarray) -> Iterator[BatchQueries]:
        """Test rows in the contexts of their batches, as many as one forward pass takes."""
        for batch in query_batches(self.trained, rows):
            for queries in batch.queries.split(copies_at_once(self.trained, batch.shape[0])):
                indices = queries.cpu().numpy()
                contexts = [np.delete(batch.numbers, index) for index in indices]
                yield BatchQueries(batch.numbers[indices], contexts, self.trained, batch, indices)

    def attention(self, rows: np.ndarray) -> Iterator[RowAttention]:
        """Attention of test rows; layers between attributes count in the index of a layer."""
        trained = self.trained
        for batch in query_batches(trained, rows):
            with evaluating(trained.settings, trained.device):
                by_layer = trained.model.attention_weights(batch.inputs, batch.queries[None])
            for index, query in enumerate(batch.queries.tolist()):
                weights = {}
                for layer, probabilities in by_layer.items():
                    heads = probabilities[0, :, index].double().cpu().numpy()
                    weights[layer] = np.delete(heads, query, axis=1)
                yield RowAttention(
                    row=int(batch.numbers[query]),
                    context=np.delete(batch.numbers, query),
                    weights=weights,
                )

    def before_training(self) -> NPTProbe:
        """The network with its initial weights, and image statistics of a batch of train rows."""
        trained = self.trained
        settings = trained.settings
        layout = trained.model.layout
        model = build_model(NPT, trained.seed, trained.device, layout, settings).eval()
        if isinstance(model.embedding, ImageEmbedding):
            train = (trained.data.part == PART["train"]).nonzero().flatten()
            first = trained.data.take(train[: settings.batch_rows])
            model.embedding.set_statistics(first.visible())
        return NPTProbe(replace(trained, model=model))

    def with_table(self, table: Table, split: Split) -> NPTProbe:
        """The same network on another table of the same columns."""
        return NPTProbe(self.trained.with_table(table, split))

    def without_duplicates(self) -> NPTProbe:
        """The same network on the originals alone, whose targets are hidden."""
        plain = self.trained.settings.changed(lookup="off")
        return NPTProbe(replace(self.trained, settings=plain))


@dataclass(frozen=True)
class BatchQueries(QueryGroup):
    """Query rows of a batch, each in the context of the batch's other rows.

    Attributes:
        queries: Indices (q,) of the query rows in the batch.
    """

    trained: TrainedNPT
    batch: QueryBatch
    queries: np.ndarray

    def layout(self, query: int) -> InputLayout:
        """Of a query and the other rows."""
        data = self.trained.data
        parts = data.part[self.batch.rows].cpu().numpy()
        copies = self.batch.shape[0] // len(parts)
        is_encoded = isinstance(self.batch.inputs, Encodings)
        return InputLayout(
            parts=np.tile(parts, copies)[self._query_first(query)],
            columns=self.batch.shape[1],
            target=None if is_encoded else data.target,
        )

    def is_unchanged_by(self, perturbation: Perturbation) -> bool:
        """Whether the columns that would be permuted are constant over the rows in question."""
        if perturbation.kind != "shuffle":
            return False
        layout = self.layout(0)
        chosen = self._query_first(0)[perturbation.chosen_rows(layout)]
        rows = torch.from_numpy(chosen).to(self.trained.device)
        columns = perturbation.chosen_columns(layout).tolist()
        cells = torch.stack(self.batch.inputs)[..., rows, :][..., columns]
        return bool((cells == cells[..., :1, :]).all())

    def predict_from(self, queries: Sequence[int], cells: Sequence[np.ndarray]) -> np.ndarray:
        """Predictions of queries from other cells; inputs of one length share a pass."""
        trained = self.trained
        by_length: dict[int, list[int]] = {}
        for index, sources in enumerate(cells):
            by_length.setdefault(len(sources), []).append(index)
        predictions: dict[int, np.ndarray] = {}
        for indices in by_length.values():
            inputs = [self._query_first(queries[index])[cells[index]] for index in indices]
            rows = torch.from_numpy(np.stack(inputs)).to(trained.device)  # (B, l, d) or (B, l, 1)
            gathered = self.batch.inputs.gather_rows(rows)
            outputs = trained.outputs(gathered, torch.zeros_like(rows[:, :1, 0]))[:, 0]
            predictions.update(zip(indices, decoded(trained, outputs), strict=True))
        return np.stack([predictions[index] for index in range(len(cells))])

    def _query_first(self, query: int) -> np.ndarray:
        """Indices (n,) in the batch of a query and its context."""
        index = self.queries[query]
        return np.concatenate([[index], np.delete(np.arange(self.batch.shape[0]), index)])
