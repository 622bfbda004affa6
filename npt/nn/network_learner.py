"""What the learners of networks have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from npt.interface import Prediction, Resources

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from npt.nn.checkpoint import Checkpoint


class TrainedNetwork(Protocol):
    """A trained network with the table that it predicts."""

    @property
    def device(self) -> torch.device:
        """Device of the network."""
        ...

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict rows of the table."""
        ...

    def save(self, path: Path) -> None:
        """Write the weights."""
        ...


Settings = TypeVar("Settings")
Trained = TypeVar("Trained", bound=TrainedNetwork)


class NetworkLearner(Generic[Settings, Trained]):
    """A learner whose `fit` sets `_trained`.

    Attributes:
        version: That of the method.
    """

    version: ClassVar[int] = 1

    def __init__(self, settings: Settings, resources: Resources) -> None:
        self.settings = settings
        self.resources = resources
        self._trained: Trained | None = None

    @property
    def trained(self) -> Trained:
        """The result of `fit`."""
        assert self._trained is not None, "fit comes first"
        return self._trained

    @property
    def device(self) -> torch.device:
        """Device of the training."""
        return self.trained.device

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict rows of the table given to `fit`."""
        return self.trained.predict(rows)

    def save(self, path: Path) -> None:
        """Write the weights."""
        self.trained.save(path)

    def _checkpoint(self, *facts: object, tensors: Sequence[Tensor]) -> Checkpoint | None:
        """The checkpoint of a training; None if the resources have no file for it.

        Args:
            facts: What identifies the training, besides the settings.
            tensors: What it is trained on.
        """
        from npt.nn.checkpoint import Checkpoint, stamp

        if self.resources.checkpoint is None:
            return None
        identity = stamp(self.settings, self.version, *facts, tensors=tensors)
        return Checkpoint(self.resources.checkpoint, identity, self.resources.checkpoint_minutes)
