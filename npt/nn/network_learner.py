"""What the learners of networks have in common: fit, save and load."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from npt.errors import Infeasible, UserError
from npt.interface import Fit, Prediction, Resources
from npt.nn.memory import is_lacking
from npt.table import Split, Table

if TYPE_CHECKING:
    import torch

    from npt.nn.trained_network import TrainedNetwork


class NetworkLearner:
    """A learner that trains a network on a blind table.

    Attributes:
        version: That of the method.
        network: Module and name of the `TrainedNetwork`, which imports PyTorch.
        trained: The result of `fit`.
    """

    version: ClassVar[int] = 1
    network: ClassVar[str]
    trained: TrainedNetwork

    def __init__(self, settings: Any, resources: Resources) -> None:
        self.settings = settings
        self.resources = resources

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Train from initial weights.

        Raises:
            Infeasible: The table does not fit into the device's memory, too few targets are known,
                or the training diverged.
            UserError: The settings do not fit the table or the device.
        """
        from npt.nn.checkpoint import Checkpoint, stamp

        resources = self.resources
        device = prepared_device(resources)
        network = resolve_name(self.network)
        checkpoint = None
        with memory_needed(device):
            trained = network.untrained(self.settings, device, table, split, seed)
            training = trained.training()
            if resources.checkpoint:
                facts = (self.settings, self.version, training.seed, str(training.model))
                identity = stamp(*facts, tensors=training.tensors)
                minutes = resources.checkpoint_minutes
                checkpoint = Checkpoint(resources.checkpoint, identity, minutes)
            training.run(checkpoint=checkpoint, metrics=resources.metrics)
            if not training.losses.isfinite().all():
                raise Infeasible(
                    "no validation loss was finite: training diverged, or no validation target is "
                    "known"
                )
            self.trained, validation_loss = trained.finished(training)
        return Fit(
            chosen=trained.chosen(training),
            validation_loss=validation_loss,
            fits=1,
            parameters=trained.parameters,
            earlier_seconds=training.earlier_seconds,
        )

    @classmethod
    def load(
        cls,
        settings: Any,
        resources: Resources,
        path: Path,
        table: Table,
        split: Split,
        seed: int,
    ) -> TrainedNetwork:
        """Read the weights of a trained network; only tensors are unpickled.

        Raises:
            Infeasible: The weights do not fit into the device's memory.
            UserError: The file is damaged, or holds the weights of another model.
        """
        from npt.nn.checkpoint import DamagedError, read_tensors

        device = prepared_device(resources)
        with memory_needed(device):
            trained = resolve_name(cls.network).untrained(settings, device, table, split, seed)
        try:
            with memory_needed(device):
                return trained.with_weights(read_tensors(path))
        except DamagedError as error:
            reason = str(error)
        except (RuntimeError, KeyError, AttributeError):
            reason = "other names or shapes"
        raise UserError(
            f"{path}: not the weights of this model ({reason}); remove the file and re-run"
        )

    @property
    def device(self) -> torch.device:
        """Device of the trained network."""
        return self.trained.device

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict rows of the table given to `fit`.

        Raises:
            Infeasible: The device has too little memory.
        """
        with memory_needed(self.device):
            return self.trained.predict(rows)

    def save(self, path: Path) -> None:
        """Write the weights."""
        self.trained.save(path)


def prepared_device(resources: Resources) -> torch.device:
    """The device of a training; torch computes with so many threads from here on."""
    import torch

    from npt.nn.device import device_of

    torch.set_num_threads(resources.threads)
    return device_of(resources.device)


@contextmanager
def memory_needed(device: torch.device) -> Generator[None]:
    """Raise `Infeasible` where memory runs out."""
    try:
        yield
    except RuntimeError as error:
        if is_lacking(error):
            reason = str(error).partition("\n")[0]
            raise Infeasible(f"out of memory on {device}: {reason}") from error
        raise
