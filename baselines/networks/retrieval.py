"""Networks that retrieve stored rows: their training, and the trained model.

A train row is predicted from the other train rows, never from itself, so that its own target
cannot reach its prediction (but for ANP, which reproduces its context).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from baselines.grids import Parameters
from baselines.networks.training import EpochTraining, predicted_by_part, tensor
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData
from npt.nn.distances import squared_distances


class RetrievalNetwork(nn.Module, ABC):
    """A network that predicts rows from stored rows (m, F).

    Attributes:
        classes: Number of classes; None for a regression.
    """

    def __init__(self, classes: int | None) -> None:
        super().__init__()
        self.classes = classes

    @abstractmethod
    def retrieved(self, features: Tensor, stored: Tensor) -> Tensor:
        """Weights (n, m) of the stored rows (m, F) for other queries (n, F).

        They sum to one, or are zeros if nothing is retrieved.
        """

    @abstractmethod
    def forward(
        self, features: Tensor, stored: Tensor, labels: Tensor, self_index: Tensor | None = None
    ) -> Tensor:
        """Log-probabilities (n, K), or standardised values (n, 1).

        Args:
            self_index: Index (n,) of each query among the stored rows, which it may not retrieve;
                None if the queries are others.
        """

    def batch_loss(self, batch: Tensor, features: Tensor, labels: Tensor, most: int) -> Tensor:
        """Log loss in nats, or mean squared error, of train rows predicted from the others.

        Args:
            batch: Indices (n,) among the train rows.
            features: Those (m, F) of all train rows.
            labels: Theirs (m,).
            most: Number of rows from which the batch is predicted, besides its own, if there are
                more.
        """
        rows = len(features)
        candidates = torch.arange(rows)
        self_index = batch
        if rows > most:
            chosen = torch.zeros(rows, dtype=torch.bool)
            chosen[torch.randperm(rows)[:most]] = True
            chosen[batch] = True
            candidates = chosen.nonzero()[:, 0]
            self_index = chosen.cumsum(0)[batch] - 1
        self_index = self_index.to(features.device)
        outputs = self(features[batch], features[candidates], labels[candidates], self_index)
        if self.classes is None:
            return functional.mse_loss(outputs[:, 0], labels[batch])
        return functional.nll_loss(outputs, labels[batch].long())

    def squared_distances(self, queries: Tensor, stored: Tensor) -> Tensor:
        """Squared Euclidean distances (n, m), to single precision after the training.

        The matrix product of the training is faster, but its rounding depends on which rows are
        compared together.
        """
        if self.training:
            return squared_distances(queries, stored)
        mode = "donot_use_mm_for_euclid_dist"
        return torch.cdist(queries, stored, compute_mode=mode).square()

    def label_values(self, labels: Tensor) -> Tensor:
        """Stored labels (m,) as one-hot (m, K), or as values (m, 1)."""
        if self.classes is None:
            return labels[:, None]
        return functional.one_hot(labels.long(), self.classes).float()

    @classmethod
    def fitted(
        cls, data: TrainingData, parameters: Parameters, device: torch.device
    ) -> RetrievalPredictor:
        """Train on the train rows by `batch_loss`, and stop on the validation rows.

        Args:
            parameters: Those of the network and of `EpochTraining`, and `candidates`, the number
                of train rows from which a batch is predicted, if there are more.
        """
        network_of: Any = cls  # subclasses take more arguments
        network = network_of(data.features.shape[1], data.trained_classes, parameters).to(device)
        features = tensor(data.train_features, device)
        labels = tensor(data.train_labels, device)
        predictor = RetrievalPredictor(network, data.stored_rows, device)

        def loss_of(batch: Tensor) -> Tensor:
            return network.batch_loss(batch, features, labels, parameters["candidates"])

        EpochTraining(network, data, loss_of, predictor, parameters).run(visible=False)
        return predictor


def without_self(scores: Tensor, self_index: Tensor | None) -> Tensor:
    """Scores (n, m) in which the query's own row is ruled out."""
    if self_index is None:
        return scores
    return scores.scatter(1, self_index[:, None], -torch.inf)


@dataclass(frozen=True)
class RetrievalPredictor(RowPredictor):
    """A trained network with its stored rows."""

    network: RetrievalNetwork
    stored: StoredRows
    device: torch.device

    def predict_from(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Values (n,), or probabilities (n, K)."""
        rows = tensor(stored.features, self.device)
        labels = tensor(stored.labels, self.device)
        outputs = predicted_by_part(
            features, self.device, lambda queries: self.network(queries, rows, labels)
        )
        if self.network.classes is None:
            return outputs[:, 0]
        return np.exp(outputs)

    def weights(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Attention (n, m) to the stored rows."""
        rows = tensor(stored.features, self.device)
        return predicted_by_part(
            features, self.device, lambda queries: self.network.retrieved(queries, rows)
        )
