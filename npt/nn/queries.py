"""Batches of a table in which a trained NPT predicts query rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from npt.nn.batches import partition
from npt.nn.device import MEMORY_FRACTION, evaluating, free_memory
from npt.nn.image_table import TableData
from npt.nn.inputs import PART, EncodedTable, Encodings, ModelInput
from npt.nn.masking import mask
from npt.perturbation import InputLayout, Perturbation
from npt.seeding import generator_for
from npt.table import Part

if TYPE_CHECKING:
    from npt.nn.trained import TrainedNPT

CPU_CELLS = 65_536  # about what stays in a processor's cache
BYTES_PER_FEATURE = 64  # of a cell's embedding: a dozen activations of a block, in float32


@dataclass(frozen=True)
class QueryBatch:
    """One evaluation batch.

    Attributes:
        rows: Row numbers in the table (n,).
        inputs: Input made of them (1, n, d), or encodings of images (1, n, e); in the lookup task
            the n duplicates follow.
        queries: Indices within the batch (m,) of the query rows.
        layout: Parts of the input's rows, those of duplicates included, and its columns.
    """

    rows: Tensor
    inputs: ModelInput
    queries: Tensor
    layout: InputLayout

    @property
    def shape(self) -> tuple[int, int]:
        """Rows of the input, duplicates included, and columns."""
        _, rows, columns = self.inputs.codes.shape
        return rows, columns

    def numbers(self, table_rows: int) -> np.ndarray:
        """Row numbers of the input's rows; those of duplicates follow those of the table."""
        rows = self.rows.cpu().numpy()
        copies = self.shape[0] // len(rows)
        return np.concatenate([copy * table_rows + rows for copy in range(copies)])

    def is_unchanged_by(self, perturbation: Perturbation) -> bool:
        """Whether the columns that would be permuted are constant over the rows in question."""
        if perturbation.kind != "shuffle":
            return False
        chosen = np.flatnonzero(perturbation.chosen_rows(self.layout))
        rows = torch.from_numpy(chosen).to(self.rows.device)
        for j in perturbation.chosen_columns(self.layout):
            column = self.inputs.column(int(j))
            if not column.is_constant(rows):
                return False
        return True


def query_batches(
    trained: TrainedNPT,
    rows: np.ndarray,
    mode: Part = "test",
) -> Iterator[QueryBatch]:
    """Batches of a mode that contain some of `rows`; the same batches for any choice of rows."""
    data, settings = trained.data, trained.settings
    is_query = torch.zeros_like(data.part, dtype=torch.bool)
    is_query[torch.as_tensor(rows, device=trained.device)] = True
    generator = generator_for(trained.seed, "evaluation", trained.device)
    for batch in partition(data, mode, settings, generator):
        cells = mask(data.take(batch), mode, settings, generator).cells
        queries = is_query[batch].nonzero().flatten()
        if not len(queries):
            continue
        inputs = _encoded(trained, cells)
        yield QueryBatch(
            rows=batch,
            inputs=inputs,
            queries=queries,
            layout=_layout(data, batch, inputs),
        )


def _encoded(trained: TrainedNPT, inputs: ModelInput) -> ModelInput:
    """Images as their encodings, so that copies of a batch are not encoded again."""
    with evaluating(trained.settings, trained.device):
        return trained.model.encoded(inputs)


def _layout(data: TableData, batch: Tensor, inputs: ModelInput) -> InputLayout:
    """Layout of a batch's input; a duplicate belongs to the part of its original."""
    _, rows, columns = inputs.codes.shape
    parts = data.part[batch].cpu().numpy()
    copies = rows // len(parts)
    return InputLayout(
        parts=np.tile(parts, copies),
        columns=columns,
        target=None if isinstance(inputs, Encodings) else data.target,
    )


def lone_query_batch(trained: TrainedNPT, row: int) -> QueryBatch:
    """The batch of a test row in the table without the other test rows."""
    context = (trained.data.part != PART["test"]).nonzero().flatten()
    rows = torch.cat([context, context.new_tensor([row])])
    alone = replace(trained, data=trained.data.select(rows))
    (batch,) = query_batches(alone, np.array([len(context)]))
    return batch


def with_other_queries(
    trained: TrainedNPT,
    batch: QueryBatch,
    others: EncodedTable,
) -> ModelInput:
    """Copies (m, n, d) of a batch, in each of which one of m test rows takes the query's place."""
    n, d = batch.shape
    m = len(others.part)
    visible = others.visible()
    queries = _encoded(trained, visible.hide(others.cells_of_target()[None]))  # (1, m, d)
    places = torch.arange(n + m, device=batch.rows.device)
    sources = places[:n].repeat(m, 1)  # (m, n)
    sources[:, batch.queries] = places[n:, None]
    return batch.inputs.followed_by(queries).gather_rows(sources[..., None].expand(-1, -1, d))


def copies_at_once(trained: TrainedNPT, rows: int) -> int:
    """Number of copies of an input with `rows` rows that one forward pass takes."""
    cells = rows * trained.data.columns
    if trained.device.type == "cpu":
        return max(1, CPU_CELLS // cells)
    bytes_per_copy = cells * BYTES_PER_FEATURE * trained.settings.width
    return max(1, int(MEMORY_FRACTION * free_memory(trained.device) / bytes_per_copy))
