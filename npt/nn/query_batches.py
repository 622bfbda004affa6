"""The test batches of a trained NPT, as the probes question them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from npt.nn.batches import partition
from npt.nn.device import free_memory
from npt.nn.inputs import ModelInput
from npt.nn.learner import NPTLearner
from npt.nn.masking import mask
from npt.seeding import generator_for

CPU_CELLS = 65_536  # about what stays in a processor's cache
BYTES_PER_FEATURE = 64  # of a cell's embedding: a dozen activations of a block, in float32
SHARE_OF_MEMORY = 0.5


@dataclass(frozen=True)
class AskedBatch:
    """Rows of the table (n,), the input made of them (1, n, d), duplicates of a lookup after them, and who is asked (m,).

    `asked` are places in the batch.
    """

    rows: torch.Tensor
    cells: ModelInput
    asked: torch.Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """Rows of the input, duplicates included, and columns."""
        return self.cells.codes.shape[1], self.cells.codes.shape[2]


def asked_batches(learner: NPTLearner, rows: np.ndarray) -> Iterator[AskedBatch]:
    """The batches that a prediction of test rows is made in, of which some of `rows` are members."""
    device = learner.data.codes.device
    wanted = torch.zeros_like(learner.data.part, dtype=torch.bool)
    wanted[torch.as_tensor(rows, device=device)] = True
    draws = generator_for(learner.seed, "evaluation", device)
    for batch in partition(learner.data, "test", learner.settings, draws):
        cells = mask(learner.data.take(batch), "test", learner.settings, draws).cells
        asked = wanted[batch].nonzero().flatten()
        if len(asked):
            yield AskedBatch(batch, cells, asked)


def copies_at_once(learner: NPTLearner, rows: int) -> int:
    """How many disturbed copies of an input of so many rows make one forward pass."""
    device, d = learner.data.codes.device, learner.data.codes.shape[1]
    if device.type == "cpu":
        return max(1, CPU_CELLS // (rows * d))
    cell = BYTES_PER_FEATURE * learner.settings.width
    return max(1, int(SHARE_OF_MEMORY * free_memory(device) / (rows * d * cell)))
