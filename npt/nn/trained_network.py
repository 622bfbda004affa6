"""Trained networks: their initial weights, and the file of their weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import torch
from torch import Tensor

from npt.interface import Prediction
from npt.nn.engine import Training
from npt.probing import RowModel
from npt.seeding import isolated_randomness, seed_for
from npt.table import Split, Table

Network = TypeVar("Network", bound=torch.nn.Module)


def build_model(
    network: Callable[..., Network], seed: int, device: torch.device, *arguments: Any
) -> Network:
    """A network with the initial weights of a run, the same on every device."""
    with isolated_randomness(torch.device("cpu")):
        torch.default_generator.manual_seed(seed_for(seed, "weights"))
        return network(*arguments).to(device)


def decoded(model: RowModel, outputs: Tensor) -> np.ndarray:
    """Target outputs (..., C) as class probabilities, or as values (...) in original units."""
    outputs = outputs.double()
    if model.task == "regression":
        return model.statistics.original(outputs[..., 0].cpu().numpy(), model.target)
    return outputs.softmax(-1).cpu().numpy()


class TrainedNetwork(ABC):
    """A network in evaluation mode, with a table that it predicts.

    Attributes:
        model: The network.
        settings: Its hyper-parameters.
    """

    model: Any
    settings: Any

    @classmethod
    @abstractmethod
    def untrained(
        cls, settings: Any, device: torch.device, table: Table, split: Split, seed: int
    ) -> Self:
        """A network with initial weights, the same on every device."""

    @abstractmethod
    def training(self) -> Training:
        """The training of the network on the table."""

    def finished(self, training: Any) -> tuple[TrainedNetwork, float]:
        """What predicts after the training, and its validation loss."""
        return self, float(training.losses.mean())

    def chosen(self, training: Training) -> dict[str, object]:
        """Hyper-parameters that the training chose."""
        return {"update": training.best_updates[0]}

    @abstractmethod
    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict rows of the table."""

    def save(self, path: Path) -> None:
        """Write the weights."""
        torch.save(self.weights(), path)

    def weights(self) -> dict[str, Tensor]:
        """Weights and buffers by name, on the CPU."""
        return {name: tensor.cpu() for name, tensor in self.model.state_dict().items()}

    def with_weights(self, weights: dict[str, Any]) -> Self:
        """The network with other `weights`, which are set in place."""
        self.model.load_state_dict(weights)
        return self

    @property
    def device(self) -> torch.device:
        """Device of the network and the data."""
        return next(self.model.parameters()).device

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def transductive(self) -> bool:
        """Whether features are standardised over all rows."""
        return self.settings.transductive
