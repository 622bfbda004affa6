"""The base classes of baselines that train a network of their own."""

from __future__ import annotations

from abc import abstractmethod
from pkgutil import resolve_name
from typing import TYPE_CHECKING, ClassVar

from baselines.baseline import Baseline, Predictor
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources

if TYPE_CHECKING:
    import torch


class NetworkBaseline(Baseline):
    """A network that ends with the weights of its best epoch on the validation rows."""

    libraries = ("torch",)
    slow = True
    accelerated = True

    @abstractmethod
    def train(self, data: TrainingData, parameters: Parameters, device: torch.device) -> Predictor:
        """Train one network; random numbers are those of PyTorch's global generator.

        Args:
            data: What it is trained on.
            parameters: Values of all parameters.
            device: Device of the network.
        """

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
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return self.train(data, parameters, torch.device(resources.device))


class RetrievalBaseline(NetworkBaseline):
    """A network that predicts a row from stored rows.

    Attributes:
        network: Module and name of the class of the network.
    """

    network: ClassVar[str]

    keeps_train_rows = True
    untrained = {"max_epochs": 0}
    recalls = True

    def train(self, data: TrainingData, parameters: Parameters, device: torch.device) -> Predictor:
        """Train one network on the train rows, each predicted from the others."""
        from baselines.networks.retrieval import fit_network

        kind = resolve_name(self.network)
        network = kind(data.features.shape[1], data.trained_classes, parameters)
        return fit_network(network, data, parameters, device)
