"""Predictions of query rows in parts of their batch, several in one forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from npt.nn.device import evaluating
from npt.nn.queries import QueryBatch

if TYPE_CHECKING:
    from npt.nn.trained import TrainedNPT

SIMILAR = 0.8  # least length of an input, in lengths of the longest, to share a pass with it


@dataclass(frozen=True)
class BatchQueries:
    """Query rows of a batch, each in the context of the batch's other rows.

    Attributes:
        queries: Indices (q,) of the query rows in the batch.
    """

    trained: TrainedNPT
    batch: QueryBatch
    queries: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """Row numbers (q,) of the queries."""
        return self._numbers[self.queries]

    @property
    def contexts(self) -> list[np.ndarray]:
        """Row numbers of the other rows of the batch, for each query."""
        return [np.delete(self._numbers, query) for query in self.queries]

    @property
    def _numbers(self) -> np.ndarray:
        return self.batch.numbers(len(self.trained.data.part))

    def predict(
        self,
        queries: Sequence[int],
        kept: Sequence[np.ndarray],
    ) -> np.ndarray:
        """Prediction of each of some queries among the kept rows of its context.

        Inputs of similar length share a forward pass.
        """
        everything = np.arange(self.batch.shape[0])
        inputs = []
        for index, remaining in zip(queries, kept, strict=True):
            query = self.queries[index]
            others = np.delete(everything, query)
            rows = np.concatenate([[query], others[remaining]])
            inputs.append(rows)
        lengths = np.array([len(rows) for rows in inputs])
        predictions: dict[int, np.ndarray] = {}
        waiting = np.argsort(-lengths, kind="stable")
        while len(waiting):
            longest = lengths[waiting[0]]
            similar = lengths[waiting] >= SIMILAR * longest
            together = waiting[similar].tolist()
            padded = self._padded([inputs[index] for index in together])
            predictions.update(zip(together, padded, strict=True))
            waiting = waiting[len(together) :]
        in_order = [predictions[index] for index in range(len(inputs))]
        return np.stack(in_order)

    def _padded(self, inputs: list[np.ndarray]) -> np.ndarray:
        """One pass over inputs (indices in the batch), padded to the length of the first.

        Returns predictions of their first rows.
        """
        shape = (len(inputs), len(inputs[0]))
        indices = np.zeros(shape, np.int64)
        present = np.zeros(shape, np.bool_)
        for number, of_input in enumerate(inputs):
            length = len(of_input)
            indices[number, :length] = of_input
            present[number, :length] = True
        trained = self.trained
        rows = torch.from_numpy(indices).to(trained.device)
        columns = self.batch.shape[1]
        cells = rows[..., None].expand(-1, -1, columns)
        gathered = self.batch.inputs.gather_rows(cells)
        mask = None
        if not present.all():
            mask = torch.from_numpy(present).to(trained.device)
        first = torch.zeros_like(rows[:, :1])
        with evaluating(trained.settings, trained.device):
            outputs = trained.model.predict_target(gathered, first, mask)
        return trained.decode(outputs[:, 0]).values
