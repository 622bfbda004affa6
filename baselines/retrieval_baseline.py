"""The base class of baselines that train a network to retrieve stored rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from baselines.baseline import Baseline, Predictor
from baselines.estimators import require_known
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.table import Task

if TYPE_CHECKING:
    from baselines.networks.retrieval import RetrievalNetwork


class RetrievalBaseline(Baseline):
    """A network that predicts a row from stored rows.

    Attributes:
        defaults: Values of all parameters.
    """

    libraries = ("torch",)
    defaults: ClassVar[Mapping[str, Any]]
    keeps_train_rows = True
    untrained: ClassVar[Parameters] = {"max_epochs": 0}
    recalls = True
    slow = True
    accelerated = True

    @abstractmethod
    def network(
        self, features: int, classes: int | None, parameters: Parameters
    ) -> RetrievalNetwork:
        """A network with initial weights for rows of some features.

        Args:
            features: Number of features.
            classes: Number of classes; None for a regression.
            parameters: Values of all parameters.
        """

    def known_parameters(self, task: Task) -> Collection[str]:
        """Those with a default."""
        return self.defaults

    def fit(
        self,
        data: TrainingData,
        configurations: Sequence[Parameters],
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Train one network; its weights are those of the best epoch on the validation rows.

        Raises:
            Infeasible: There is a single train row.
            UserError: A parameter is unknown.
        """
        import torch

        from baselines.networks.retrieval import fit_network

        (stated,) = configurations
        require_known(stated, list(self.defaults), self.title)
        parameters = {**self.defaults, **stated}
        torch.set_num_threads(resources.threads)
        features = data.features.shape[1]
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = self.network(features, data.trained_classes, parameters)
            return fit_network(network, data, parameters, torch.device(resources.device))
