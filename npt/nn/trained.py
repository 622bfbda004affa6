"""A trained NPT: what an estimator predicts with and a probe measures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from npt.data.encoding import Statistics, statistics
from npt.interface import Prediction, Resources, UserError
from npt.nn.checkpoint import DamagedError, read_tensors
from npt.nn.column_layout import ColumnLayout
from npt.nn.device import device_of, evaluating
from npt.nn.inputs import PART, EncodedTable
from npt.nn.model import NPT
from npt.nn.queries import (
    QueryBatch,
    copies_at_once,
    lone_query_batch,
    query_batches,
    with_other_queries,
)
from npt.nn.settings import NPTSettings
from npt.nn.training import build_model
from npt.perturbation import Perturbation
from npt.table import Part, Split, Table, Task


@dataclass(frozen=True)
class TrainedNPT:
    """A network with the table that it predicts from; nothing in it changes.

    Attributes:
        model: Network in evaluation mode.
        data: Encoded table: the training table, or another one with the same columns.
        statistics: Centre and scale of the columns of the training table.
        seed: Seed of the training; the batches of an evaluation are drawn from it.
        task: Task of the target column.
    """

    model: NPT
    data: EncodedTable
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
        scales = statistics(table, split, transductive=settings.transductive)
        data = EncodedTable.of(table, split, scales, device)
        model = build_model(ColumnLayout.of(table, settings), settings, seed, device).eval()
        return cls(model, data, scales, settings, seed, table.task)

    @classmethod
    def load(
        cls,
        settings: NPTSettings,
        resources: Resources,
        path: Path,
        table: Table,
        split: Split,
        seed: int,
    ) -> TrainedNPT:
        """Read weights written by `save`; only tensors are unpickled.

        Raises:
            UserError: the file is damaged, or holds the weights of another model.
        """
        trained = cls.untrained(settings, resources, table, split, seed)
        try:
            trained.model.load_state_dict(read_tensors(path))
        except torch.OutOfMemoryError:
            raise
        except DamagedError as error:
            raise _not_weights(path, str(error)) from None
        except RuntimeError:
            raise _not_weights(path, "other names or shapes") from None
        return trained

    @property
    def device(self) -> torch.device:
        """Device of the network and the data."""
        return self.data.codes.device

    def save(self, path: Path) -> None:
        """Write the weights."""
        weights = {name: tensor.cpu() for name, tensor in self.model.state_dict().items()}
        torch.save(weights, path)

    def with_table(self, table: Table, split: Split) -> TrainedNPT:
        """The same network on another table of the same columns, with the same statistics."""
        data = EncodedTable.of(table, split, self.statistics, self.device)
        return replace(self, data=data)

    def with_settings(self, settings: NPTSettings) -> TrainedNPT:
        """The same network with other settings of masking or evaluation."""
        return replace(self, settings=settings)

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict `rows`: validation rows in validation mode, all others in test mode."""
        in_validation_mode = self._in_validation_mode(rows)
        outputs = self.data.numbers.new_empty(len(rows), self.model.layout.target_size)
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
            copies = with_other_queries(batch, self.data.take(queries))
            place = batch.queries.expand(len(queries), 1)
            with evaluating(self.settings, self.device):
                predicted = self.model.predict_target(copies, place)
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
        a cell move together; the query row stays intact. A forward pass takes several copies, with
        the result of one at a time. Where there is nothing to permute, such as hidden labels, the
        prediction is that of `predict`.
        """
        outputs = self._empty_outputs()
        for batch in query_batches(self, rows):
            if batch.is_unchanged_by(perturbation):
                outputs[batch.rows[batch.queries]] = self._batch_outputs(batch)
                continue
            for queries in batch.queries.split(copies_at_once(self, batch.shape[0])):
                sources = [
                    perturbation.sources(seed, int(batch.rows[query]), query, batch.layout)
                    for query in queries.tolist()
                ]
                copies = batch.inputs.gather_rows(self._tensor(np.stack(sources)))
                first = torch.zeros(len(queries), 1, dtype=torch.long, device=self.device)
                with evaluating(self.settings, self.device):
                    predicted = self.model.predict_target(copies, first)
                outputs[batch.rows[queries]] = predicted[:, 0].to(outputs.dtype)
        return self.decode(outputs[self._tensor(rows)])

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


def _not_weights(path: Path, reason: str) -> UserError:
    return UserError(
        f"{path}: not the weights of this model ({reason}); remove the file and re-run"
    )
