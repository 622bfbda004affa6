"""A trained NPT with the table that it predicts from, and the batches of its predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from npt.data.encoding import Statistics, statistics
from npt.errors import UserError
from npt.interface import Prediction
from npt.nn.batches import partition
from npt.nn.column_layout import ColumnLayout
from npt.nn.device import (
    MEMORY_FRACTION,
    evaluating,
    free_memory,
    require_precision,
    uses_bfloat16,
)
from npt.nn.engine import Training
from npt.nn.inputs import PART, EncodedTable, ModelInput
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings
from npt.nn.trained_network import TrainedNetwork, build_model, decoded
from npt.nn.training import NPTTraining
from npt.seeding import generator_for
from npt.table import Part, Split, Table, Task

CPU_CELLS = 65_536  # about what stays in a processor's cache
BYTES_PER_FEATURE = 64  # of a cell's embedding: sixteen activations of a block, in float32


@dataclass(frozen=True)
class QueryBatch:
    """One evaluation batch.

    Attributes:
        rows: Row numbers in the table (n,).
        numbers: Row numbers of all rows of the input; duplicates are numbered from N.
        inputs: Input made of them (1, n, d), or encodings of images (1, n, e); in the lookup task
            the n duplicates follow.
        queries: Indices within the batch (m,) of the query rows.
    """

    rows: Tensor
    numbers: np.ndarray
    inputs: ModelInput
    queries: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """Rows of the input, duplicates included, and columns."""
        _, rows, columns = self.inputs.codes.shape
        return rows, columns


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
    data: EncodedTable
    statistics: Statistics
    settings: NPTSettings
    seed: int
    task: Task

    @classmethod
    def untrained(
        cls,
        settings: NPTSettings,
        device: torch.device,
        table: Table,
        split: Split,
        seed: int,
    ) -> TrainedNPT:
        """A network with initial weights, and the encoded table to train it on."""
        require_precision(settings.precision, device)
        scales = statistics(table, split, transductive=settings.transductive)
        data = EncodedTable.from_table(table, split, scales, device)
        layout = ColumnLayout.from_table(table, settings)
        model = build_model(NPT, seed, device, layout, settings).eval()
        return cls(model, data, scales, settings, seed, table.task)

    @property
    def target(self) -> int:
        """Index of the target column."""
        return self.data.target

    def training(self) -> NPTTraining:
        """The training on the table."""
        return NPTTraining(self.model, self.data, self.settings, self.seed)

    def chosen(self, training: Training) -> dict[str, object]:
        """The update of the weights, and the precision that the device has."""
        chosen = super().chosen(training)
        if self.settings.precision == "auto":
            is_short = uses_bfloat16(self.settings, self.device)
            chosen["precision"] = "bfloat16" if is_short else "float32"
        return chosen

    def with_table(self, table: Table, split: Split) -> TrainedNPT:
        """The same network on another table of the same columns, with the same statistics."""
        data = EncodedTable.from_table(table, split, self.statistics, self.device)
        return replace(self, data=data)

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict `rows`: validation rows in validation mode, all others in test mode.

        With `own_rows`, the batches of the test mode lack train rows, whose predictions are NaN.
        """
        in_validation = self.data.part == PART["validation"]
        chosen: dict[Part, Tensor] = {"validation": in_validation, "test": ~in_validation}
        indices = torch.as_tensor(rows, device=self.device)
        shape = (len(self.data.part), self.model.layout.target_size)
        outputs = torch.full(shape, torch.nan, device=self.device)
        for mode, in_mode in chosen.items():
            if not in_mode[indices].any():
                continue
            for batch in query_batches(self, rows, mode):
                queries = batch.rows[batch.queries]
                kept = in_mode[queries]
                predicted = self.outputs(batch.inputs, batch.queries[None])[0]
                outputs[queries[kept]] = predicted[kept]
        return Prediction(decoded(self, outputs[indices]))

    def predict_alone(self, rows: np.ndarray) -> Prediction:
        """Predict test rows (one or more), each as if it were the only test row of the table.

        Raises:
            UserError: this is a model of the lookup task, whose input also has duplicates.
        """
        lookup = self.settings.lookup
        if lookup != "off":
            raise UserError(f"lookup: {lookup!r}; rows are predicted alone with 'off' only")
        context = (self.data.part != PART["test"]).nonzero().flatten()
        last = np.array([len(context)])
        values = []
        for row in torch.as_tensor(rows, device=self.device).split(1):
            alone = replace(self, data=self.data.take(torch.cat([context, row])))
            values.append(alone.predict(last).values)
        return Prediction(np.concatenate(values))

    def outputs(
        self,
        inputs: ModelInput,
        rows: Tensor,
    ) -> Tensor:
        """Target outputs (B, m, C) of query rows: logits, or standardised values."""
        with evaluating(self.settings, self.device):
            return self.model.predict_target(inputs, rows).float()


def query_batches(
    trained: TrainedNPT,
    rows: np.ndarray,
    mode: Part = "test",
) -> Iterator[QueryBatch]:
    """Batches of a mode that contain some of `rows`; the same batches for any choice of rows."""
    data = trained.data
    settings = trained.settings
    is_query = torch.zeros_like(data.part, dtype=torch.bool)
    is_query[torch.as_tensor(rows, device=trained.device)] = True
    generator = generator_for(trained.seed, "evaluation", trained.device)
    for batch in partition(data, mode, settings, generator):
        cells = mask(data.take(batch), mode, settings, generator).cells
        queries = is_query[batch].nonzero().flatten()
        if not len(queries):
            continue
        with evaluating(settings, trained.device):  # copies of images are not encoded again
            encoded = trained.model.encoded(cells)
        numbers = batch.cpu().numpy()
        if settings.lookup != "off":
            numbers = np.concatenate([numbers, len(data.part) + numbers])
        yield QueryBatch(batch, numbers, encoded, queries)


def copies_at_once(trained: TrainedNPT, rows: int) -> int:
    """Number of copies of an input with `rows` rows that one forward pass takes."""
    cells = rows * len(trained.data.sizes)
    if trained.device.type == "cpu":
        return max(1, CPU_CELLS // cells)
    bytes_per_copy = cells * BYTES_PER_FEATURE * trained.settings.width
    return max(1, int(MEMORY_FRACTION * free_memory(trained.device) / bytes_per_copy))
