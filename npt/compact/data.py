"""Rows that a compact NPT is trained on, evaluated on, and predicts from.

N rows of the table, C length of a label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from npt.compact.columns import Features
from npt.seeding import generator_for
from npt.table import Table

CPU = torch.device("cpu")


@dataclass(frozen=True)
class LabelledRows:
    """Encoded rows with their labels (n, C) and weights (n,)."""

    features: Features
    labels: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def tensors(self) -> list[Tensor]:
        """All of them."""
        return [*self.features.tensors, self.labels, self.weights]

    def take(self, rows: Tensor) -> LabelledRows:
        """Some of the rows."""
        return LabelledRows(self.features.take(rows), self.labels[rows], self.weights[rows])


@dataclass(frozen=True)
class TrainingRows:
    """Rows with known targets.

    Attributes:
        train: Train rows.
        validation: Validation rows of an evaluation.
        context: Train rows that are the context of a prediction.
    """

    train: LabelledRows
    validation: LabelledRows
    context: LabelledRows


def known_rows(table: Table, rows: np.ndarray) -> np.ndarray:
    """Those of some rows whose target is known."""
    return rows[~np.isnan(table.numbers(table.target, rows))]


def sampled(rows: np.ndarray, limit: int | None, seed: int, count: int) -> np.ndarray:
    """At most `limit` of some rows, drawn at random, in their order."""
    if limit is None or len(rows) <= limit:
        return rows
    generator = generator_for(seed, "evaluation", CPU, count)
    chosen = torch.randperm(len(rows), generator=generator)[:limit]
    return rows[chosen.sort().values.numpy()]
