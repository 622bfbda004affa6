"""Many tables in one: rows that name their realisation, and which of them are shown.

A row has the number of its realisation, inputs and a value. Of a held-out realisation the train
rows are the context, the validation or test rows the other targets. A realisation that has neither
is for training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from npt.processes.tasks import Tasks
from npt.table import PARTS, Part, Split, Table

REALISATION = "realisation"
INPUTS = ("x", "x1", "x2", "channel")  # names of columns


@dataclass(frozen=True)
class Realisations:
    """Points of all realisations of a table of N rows.

    Attributes:
        x: Inputs (N, d).
        y: Values (N,), NaN where they are hidden.
        number: Realisation (N,) of every row.
        part: Part (N,) of every row.
    """

    x: Tensor
    y: Tensor
    number: np.ndarray
    part: np.ndarray

    @classmethod
    def from_table(cls, table: Table, split: Split, device: torch.device) -> Realisations:
        """The points of a table."""
        names = [column.name for column in table.columns]
        indices = [names.index(name) for name in INPUTS if name in names]
        x = np.stack([table.numbers(j) for j in indices], 1).astype(np.float32)
        part = np.full(table.rows, "", dtype="U10")
        for name in PARTS:
            part[split.rows(name)] = name
        return cls(
            x=torch.from_numpy(x).to(device),
            y=torch.from_numpy(table.truth.astype(np.float32)).to(device),
            number=table.numbers(names.index(REALISATION)),
            part=part,
        )

    def held_out(self, part: Part, most: int) -> Iterator[tuple[Tasks, np.ndarray]]:
        """Tasks of the realisations with rows of a part, at most so many in a batch.

        The row number (B, n) of every point comes with them.
        """
        by_size: dict[tuple[int, int], list[np.ndarray]] = {}
        for rows in self._rows_by_realisation():
            parts = self.part[rows]
            context = rows[parts == "train"]
            targets = rows[parts == part]
            if len(targets):
                points = np.concatenate([context, targets])
                tables = by_size.setdefault((len(context), len(points)), [])
                tables.append(points)
        for (context_points, _), tables in by_size.items():
            for start in range(0, len(tables), most):
                batch = tables[start : start + most]
                rows = np.stack(batch)  # (B, n)
                yield self.tasks(rows, context_points), rows

    def for_training(self) -> list[np.ndarray]:
        """Row numbers of each realisation that has train rows alone."""
        realisations = self._rows_by_realisation()
        return [rows for rows in realisations if (self.part[rows] == "train").all()]

    def tasks(self, rows: np.ndarray, context: int) -> Tasks:
        """Tasks of row numbers (B, n)."""
        indices = torch.from_numpy(rows).to(self.x.device)
        return Tasks(self.x[indices], self.y[indices], context)

    def _rows_by_realisation(self) -> list[np.ndarray]:
        order = np.argsort(self.number, kind="stable")
        _, starts = np.unique(self.number[order], return_index=True)
        return np.split(order, starts[1:])
