"""A trained NPT: what an estimator predicts with and a probe measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from npt.data.encoding import Statistics, statistics
from npt.interface import Intervention, Prediction, Resources, RowAttention, UserError
from npt.nn.column_layout import ColumnLayout
from npt.nn.contexts import BatchQueries
from npt.nn.device import device_of, evaluating, require_precision
from npt.nn.embedding import ImageEmbedding
from npt.nn.image_table import TableData, encoded_table
from npt.nn.inputs import PART, ModelInput
from npt.nn.intervention import intervention
from npt.nn.model import NPT
from npt.nn.queries import (
    QueryBatch,
    copies_at_once,
    lone_query_batch,
    query_batches,
    with_other_queries,
)
from npt.nn.settings import NPTSettings
from npt.nn.trained_network import TrainedNetwork
from npt.nn.training import build_model
from npt.perturbation import Perturbation
from npt.table import Part, Split, Table, Task


@dataclass(frozen=True)
class TrainedNPT(TrainedNetwork):
    """A network with the table that it predicts from; nothing in it changes.

    Attributes:
        model: Network in evaluation mode.
        data: Encoded table: the training table, or another one with the same columns.
        statistics: Centre and scale of the columns of the training table.
        seed: Seed of the training; the batches of an evaluation are drawn from it.
        task: Task of the target column.
    """

    model: NPT
    data: TableData
    statistics: Statistics
    settings: NPTSettings
    seed: int
    task: Task

    @classmethod
    def untrained(
        cls,
        settings: NPTSettings,
        resources: Resources,
        table: Table,
        split: Split,
        seed: int,
    ) -> TrainedNPT:
        """A network with initial weights, and the encoded table to train it on."""
        torch.set_num_threads(resources.threads)
        device = device_of(resources.device)
        require_precision(settings.precision, device)
        scales = statistics(table, split, transductive=settings.transductive)
        data = encoded_table(table, split, scales, device)
        model = build_model(ColumnLayout.of(table, settings), settings, seed, device).eval()
        return cls(model, data, scales, settings, seed, table.task)

    @property
    def target(self) -> int:
        """Index of the target column."""
        return self.data.target

    def with_table(self, table: Table, split: Split) -> TrainedNPT:
        """The same network on another table of the same columns, with the same statistics."""
        data = encoded_table(table, split, self.statistics, self.device)
        return replace(self, data=data)

    def with_settings(self, settings: NPTSettings) -> TrainedNPT:
        """The same network with other settings of masking or evaluation."""
        return replace(self, settings=settings)

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict `rows`: validation rows in validation mode, all others in test mode.

        With `own_rows`, the batches of the test mode lack train rows, whose predictions are NaN.
        """
        in_validation_mode = self._in_validation_mode(rows)
        shape = (len(rows), self.model.layout.target_size)
        outputs = torch.empty(shape, device=self.device)
        chosen: dict[Part, Tensor] = {
            "validation": in_validation_mode,
            "test": ~in_validation_mode,
        }
        for mode, in_mode in chosen.items():
            if in_mode.any():
                outputs[in_mode] = self._outputs(rows, mode)[in_mode]
        return self.decode(outputs)

    def predict_alone(self, rows: np.ndarray) -> Prediction:
        """Predict test rows (one or more), each as if it were the only test row of the table.

        A forward pass takes several copies of the batch, each with another query, with the result
        of one at a time.

        Raises:
            UserError: this is a model of the lookup task, whose input also has duplicates.
        """
        lookup = self.settings.lookup
        if lookup != "off":
            raise UserError(f"lookup: {lookup!r}; rows are predicted alone with 'off' only")
        outputs = self._empty_outputs()
        batch = lone_query_batch(self, int(rows[0]))
        for queries in self._tensor(rows).split(copies_at_once(self, batch.shape[0])):
            copies = with_other_queries(self, batch, self.data.take(queries))
            indices = batch.queries.expand(len(queries), 1)
            with evaluating(self.settings, self.device):
                predicted = self.model.predict_target(copies, indices)
            outputs[queries] = predicted[:, 0].to(outputs.dtype)
        return self.decode(outputs[self._tensor(rows)])

    def predict_perturbed(
        self,
        rows: np.ndarray,
        perturbation: Perturbation,
        seed: int,
    ) -> Prediction:
        """Predict test rows, each with the other rows of its batch perturbed (paper Algorithm 1).

        Each query has its own copy of the batch and its own random draws. Value and mask channel of
        a cell move together; the query row stays intact. Of images with an encoder, the encodings
        are permuted instead of the pixels. A forward pass takes several copies, with the result of
        one at a time. Where there is nothing to permute, such as hidden labels, the
        prediction is that of `predict`.
        """
        outputs = self._empty_outputs()
        for batch in query_batches(self, rows):
            if batch.is_unchanged_by(perturbation):
                outputs[batch.rows[batch.queries]] = self._batch_outputs(batch)
                continue
            for queries in batch.queries.split(copies_at_once(self, batch.shape[0])):
                sources = []
                for query in queries.tolist():
                    row = int(batch.rows[query])
                    of_row = perturbation.sources(seed, row, query, batch.layout)
                    sources.append(of_row)
                copies = batch.inputs.gather_rows(self._tensor(np.stack(sources)))
                first = torch.zeros(len(queries), 1, dtype=torch.long, device=self.device)
                with evaluating(self.settings, self.device):
                    predicted = self.model.predict_target(copies, first)
                outputs[batch.rows[queries]] = predicted[:, 0].to(outputs.dtype)
        return self.decode(outputs[self._tensor(rows)])

    def query_groups(self, rows: np.ndarray) -> Iterator[BatchQueries]:
        """Test rows in the contexts of their batches, as many as one forward pass takes."""
        for batch in query_batches(self, rows):
            for queries in batch.queries.split(copies_at_once(self, batch.shape[0])):
                yield BatchQueries(self, batch, queries.cpu().numpy())

    def attention(self, rows: np.ndarray) -> Iterator[RowAttention]:
        """Attention of test rows to the other rows of their batches.

        Layers between attributes count in the index of a layer.
        """
        for batch in query_batches(self, rows):
            with evaluating(self.settings, self.device):
                by_layer = self.model.attention_weights(batch.inputs, batch.queries[None])
            numbers = batch.numbers(len(self.data.part))
            for index, query in enumerate(batch.queries.tolist()):
                weights = {}
                for layer, of_layer in by_layer.items():
                    of_query = of_layer[0, :, index].double().cpu().numpy()
                    weights[layer] = np.delete(of_query, query, axis=1)
                row = int(numbers[query])
                context = np.delete(numbers, query)
                yield RowAttention(row, context, weights)

    def before_training(self) -> TrainedNPT:
        """The same network with its initial weights.

        Batch normalisation of images has the statistics of a batch of train images.
        """
        model = build_model(self.model.layout, self.settings, self.seed, self.device).eval()
        if isinstance(model.embedding, ImageEmbedding):
            model.embedding.set_statistics(self._train_batch())
        return replace(self, model=model)

    def _train_batch(self) -> ModelInput:
        """The first rows of the train part."""
        rows = (self.data.part == PART["train"]).nonzero().flatten()
        return self.data.take(rows[: self.settings.batch_rows]).visible()

    def without_duplicates(self) -> TrainedNPT:
        """The same network on the originals alone, whose targets are hidden."""
        return self.with_settings(self.settings.changed(lookup="off"))

    def intervention(self, rows: np.ndarray, sweep: int = 10) -> Intervention:
        """Set the target of one duplicate at a time to values over the range of all targets."""
        return intervention(self, rows, sweep)

    def decode(self, outputs: Tensor) -> Prediction:
        """Target outputs (n, C) to class probabilities or values in original units."""
        if self.task == "regression":
            values = outputs[:, 0].double().cpu().numpy()
            return Prediction(self.statistics.original(values, self.data.target))
        return Prediction(outputs.double().softmax(-1).cpu().numpy())

    def _in_validation_mode(self, rows: np.ndarray) -> Tensor:
        """Which of `rows` (n,) need validation mode: none if it shows what test mode shows."""
        settings = self.settings
        same_labels = settings.target_mask == 1 or not settings.validation_labels_at_test
        no_duplicates = settings.lookup == "off"  # duplicates show the labels of a mode's own rows
        in_validation = self.data.part[self._tensor(rows)] == PART["validation"]
        if same_labels and no_duplicates and settings.transductive:
            return torch.zeros_like(in_validation)
        return in_validation

    def _outputs(self, rows: np.ndarray, mode: Part) -> Tensor:
        """Target outputs (n, C) of `rows`: logits, or standardised values."""
        outputs = self._empty_outputs()
        for batch in query_batches(self, rows, mode):
            outputs[batch.rows[batch.queries]] = self._batch_outputs(batch)
        return outputs[self._tensor(rows)]

    def _batch_outputs(self, batch: QueryBatch) -> Tensor:
        """Target outputs (m, C) of the queries of a batch."""
        with evaluating(self.settings, self.device):
            predicted = self.model.predict_target(batch.inputs, batch.queries[None])
        return predicted[0].float()

    def _empty_outputs(self) -> Tensor:
        shape = (len(self.data.part), self.model.layout.target_size)
        return torch.full(shape, torch.nan, device=self.device)

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(values).to(self.device)
