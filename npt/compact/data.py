"""Rows that a compact NPT is trained on, evaluated on, and predicts from.

N rows of the table, C length of a label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from npt.compact.columns import Encoder, Features
from npt.compact.settings import CompactSettings
from npt.seeding import generator_for
from npt.table import Split, Table

CPU = torch.device("cpu")


@dataclass(frozen=True)
class TrainingRows:
    """Encoded rows with known targets.

    Attributes:
        features: Train rows.
        labels: Their labels (n, C).
        weights: Their weights (n,).
        context: Which of them (m,) are the context of a prediction.
        validation_features: Validation rows of an evaluation.
        validation_labels: Their labels.
        validation_weights: Their weights.
    """

    features: Features
    labels: Tensor
    weights: Tensor
    context: Tensor
    validation_features: Features
    validation_labels: Tensor
    validation_weights: Tensor

    @classmethod
    def from_table(
        cls,
        table: Table,
        split: Split,
        encoder: Encoder,
        settings: CompactSettings,
        seed: int,
        device: torch.device,
        weights: np.ndarray | None = None,
    ) -> TrainingRows:
        """Train and validation rows of a table.

        Args:
            weights: Weight of every row of the table (N,); None weighs all alike.
        """
        if weights is None:
            weights = np.ones(table.rows)
        train = known_rows(table, split.train)
        validation = known_rows(table, split.validation)
        evaluated = drawn(len(validation), settings.evaluated_rows, seed, count=1)
        validation = validation[evaluated.numpy()]
        return cls(
            features=encoder.encode(table, train).to(device, torch.float32),
            labels=encoder.labels(table, train).to(device),
            weights=torch.from_numpy(weights[train]).float().to(device),
            context=drawn(len(train), settings.context_rows, seed, count=0).to(device),
            validation_features=encoder.encode(table, validation).to(device, torch.float32),
            validation_labels=encoder.labels(table, validation).to(device),
            validation_weights=torch.from_numpy(weights[validation]).float().to(device),
        )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def tensors(self) -> list[Tensor]:
        """All that a training depends on."""
        return [
            *self.features.tensors,
            self.labels,
            self.weights,
            *self.validation_features.tensors,
            self.validation_labels,
            self.validation_weights,
        ]

    @property
    def device(self) -> torch.device:
        """Device of all tensors."""
        return self.labels.device

    @property
    def context_features(self) -> Features:
        """Features of the context."""
        return self.features.take(self.context)

    @property
    def context_labels(self) -> Tensor:
        """Labels (m, C) of the context."""
        return self.labels[self.context]


def known_rows(table: Table, rows: np.ndarray) -> np.ndarray:
    """Those of some rows whose target is known."""
    return rows[~np.isnan(table.numbers(table.target, rows))]


def drawn(
    rows: int,
    limit: int | None,
    seed: int,
    count: int,
) -> Tensor:
    """At most `limit` of so many rows, in ascending order."""
    if limit is None or rows <= limit:
        return torch.arange(rows)
    generator = generator_for(seed, "evaluation", CPU, count)
    chosen = torch.randperm(rows, generator=generator)[:limit]
    return chosen.sort().values
