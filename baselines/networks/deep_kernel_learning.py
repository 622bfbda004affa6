"""A Gaussian process with an RBF kernel on the features that a network learns.

n rows, F features, E features that the network learns, m inducing points.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean
from gpytorch.mlls import VariationalELBO
from gpytorch.models import ApproximateGP
from gpytorch.utils.cholesky import psd_safe_cholesky
from gpytorch.utils.errors import NotPSDError
from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy
from torch import Tensor, nn

from baselines.grids import Parameters
from baselines.networks.training import EpochTraining, predicted_by_part, tensor
from baselines.training_data import TrainingData
from npt.errors import Infeasible
from npt.probing import Duplicates
from npt.processes.attention import mlp

JITTER = 1e-6  # at first, as a fraction of the mean of the kernel's diagonal


class SparseProcess(ApproximateGP):
    """A variational process whose inducing points are learned, from initial ones (m, E)."""

    def __init__(self, inducing: Tensor) -> None:
        distribution = CholeskyVariationalDistribution(len(inducing))
        strategy = VariationalStrategy(self, inducing, distribution, learn_inducing_locations=True)
        super().__init__(strategy)
        self.mean_module = ConstantMean()
        self.covariance = ScaleKernel(RBFKernel(ard_num_dims=inducing.shape[1]))

    def forward(self, x: Tensor) -> Any:
        """The prior at x (n, E)."""
        mean: Any = self.mean_module(x)
        return MultivariateNormal(mean, self.covariance(x))


class DeepKernel(nn.Module):
    """A network, a process on its features, and Gaussian noise.

    Args:
        rows: Train rows (n, F), some of which are the first inducing points.
        parameters: `hidden_layer_sizes`, `features` and `inducing_points`.
    """

    def __init__(self, rows: Tensor, parameters: Parameters) -> None:
        super().__init__()
        widths = [*parameters["hidden_layer_sizes"], parameters["features"]]
        self.network = mlp(rows.shape[1], widths)
        chosen = torch.randperm(len(rows))[: parameters["inducing_points"]]
        with torch.no_grad():
            inducing = self.network(rows[chosen])
        self.process: Any = SparseProcess(inducing)
        self.likelihood: Any = GaussianLikelihood()

    def forward(self, rows: Tensor) -> Any:
        """Posterior at rows (n, F)."""
        return self.process(self.network(rows))


@dataclass(frozen=True)
class DeepKernelPredictor:
    """Predicts by the sparse process of a trained model, for its one configuration."""

    model: DeepKernel
    device: torch.device

    def __call__(self, features: np.ndarray, parameters: Parameters) -> np.ndarray:
        """Standardised posterior means (n,) at features (n, F)."""
        return predicted_by_part(features, self.device, lambda rows: self.model(rows).mean)

    @torch.no_grad()
    def recall(self, duplicates: Duplicates, parameters: Parameters) -> np.ndarray:
        """Posterior means (n,) at originals of an exact process on duplicates (section B.1).

        It has the trained kernel in double precision, without noise but for a jitter, the least
        from 1e-6 of the diagonal on with which the kernel has a Cholesky factor.

        Raises:
            Infeasible: There is none.
        """
        model = copy.deepcopy(self.model).double()
        observed = tensor(duplicates.duplicates, self.device).double()
        originals = tensor(duplicates.originals, self.device).double()
        values = tensor(duplicates.shown, self.device).double()
        inputs = model.network(observed)  # (n, E)
        across = model.process.covariance(model.network(originals), inputs).to_dense()
        mean = model.process.mean_module(inputs[:1])
        kernel = model.process.covariance(inputs, inputs).to_dense()
        jitter = JITTER * float(kernel.diagonal().mean())
        kernel.diagonal().add_(jitter)
        try:
            factor = psd_safe_cholesky(kernel, jitter=jitter, max_tries=4)
        except NotPSDError:
            raise Infeasible(f"the kernel of {len(kernel)} rows has no Cholesky factor") from None
        residuals = (values - mean)[:, None]
        recalled = across @ torch.cholesky_solve(residuals, factor)[:, 0] + mean
        return recalled.cpu().numpy()


def fit_deep_kernel(
    data: TrainingData, parameters: Parameters, device: torch.device
) -> DeepKernelPredictor:
    """Train network and process together on the variational bound."""
    train = tensor(data.train_features, device)
    labels = tensor(data.train_labels, device)
    model = DeepKernel(train.cpu(), parameters).to(device)
    bound: Any = VariationalELBO(model.likelihood, model.process, num_data=len(labels))
    predictor = DeepKernelPredictor(model, device)

    def loss_of(batch: Tensor) -> Tensor:
        return -bound(model(train[batch]), labels[batch])

    EpochTraining(model, data, loss_of, predictor, parameters, fewest_rows=1).run(visible=False)
    return predictor
