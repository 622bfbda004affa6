"""The base classes of baselines that train a network of their own."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import ClassVar

from baselines.baseline import Baseline, Predictor
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources


class NetworkBaseline(Baseline):
    """A network that ends with the weights of its best epoch on the validation rows.

    Attributes:
        trainer: Module and name of what trains it: of data, parameters and device,
            with PyTorch's global generator.
    """

    trainer: ClassVar[str]
    libraries = ("torch",)
    slow = True
    accelerated = True

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Train one network."""
        import torch

        torch.set_num_threads(resources.threads)
        train = resolve_name(self.trainer)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return train(data, parameters, torch.device(resources.device))


class RetrievalBaseline(NetworkBaseline):
    """A network that predicts a row from stored rows."""

    keeps_train_rows = True
    untrained = {"max_epochs": 0}
    recalls = True
