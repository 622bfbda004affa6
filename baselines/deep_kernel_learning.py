"""Deep kernel learning (Wilson et al. 2016) of GPyTorch: a Gaussian process on the features of a network (paper Table 3).

Network and process are trained together on the variational bound with inducing points (Hensman et al. 2013) in minibatches, and
stopped early on the validation rows. The grid is around the configuration that the paper names (section B.1), with the layers
and features of its code's; that code's 1,000 inducing points, dropout and plain gradient descent are not in it.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.declaration import (
    Baseline,
    Fitted,
    Grid,
    Parameters,
    Size,
    TrainingData,
    require_known,
    serving_one,
)
from npt.interface import Duplicates, Resources
from npt.table import Task

if TYPE_CHECKING:
    import torch

    Rows = tuple[torch.Tensor, torch.Tensor]

CHUNK = 4096  # rows that are predicted together
JITTER = 1e-6  # of the kernel's variance, on its diagonal


def paper(task: Task, size: Size) -> Grid:
    """16 configurations."""
    return {
        "hidden_layer_sizes": [[100, 100], [100]],
        "features": [8, 10],
        "inducing_points": [256, 64],
        "learning_rate": [1e-4, 1e-3],
        "batch_size": [128],
    }


def quick(task: Task) -> Grid:
    """One of them, which learns fast."""
    return {
        "hidden_layer_sizes": [[100, 100]],
        "features": [8],
        "inducing_points": [64],
        "learning_rate": [1e-3],
        "batch_size": [128],
    }


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Train one model; its weights are those of the best epoch on the validation rows.

    Raises:
        UserError: a parameter is unknown.
    """
    import torch

    (given,) = configurations
    model = _trained(data, given, seed, resources)

    def predict(rows: np.ndarray) -> np.ndarray:
        return (
            model.mean(torch.as_tensor(rows, dtype=torch.float32, device=model.device))
            .cpu()
            .numpy()
        )

    return serving_one(predict)


def recall(
    data: TrainingData, given: Parameters, seed: int, resources: Resources, task: Duplicates
) -> np.ndarray:
    """The lookup task: an exact process on the embedded duplicates, with the kernel learnt on the train rows (section B.1).

    It takes what they show as free of noise, but for what a factorisation needs.
    """
    import torch

    model = _trained(data, given, seed, resources)
    originals, duplicates, shown = (
        torch.as_tensor(each, dtype=torch.float32, device=model.device)
        for each in (task.originals, task.duplicates, task.shown)
    )
    return model.exact_mean(originals, duplicates, shown).cpu().numpy()


def _trained(data: TrainingData, given: Parameters, seed: int, resources: Resources) -> DeepKernel:
    import torch

    defaults = {name: values[0] for name, values in paper(data.task, "small").items()}
    require_known(given, [*defaults, "max_epochs", "patience"], "deep kernel learning")
    parameters = {**defaults, **given}
    torch.set_num_threads(resources.threads)
    device = torch.device(resources.device)
    features, target = (
        torch.as_tensor(each, dtype=torch.float32, device=device)
        for each in (data.features, data.target)
    )
    train, validation = (
        torch.as_tensor(rows, device=device) for rows in (data.train, data.validation)
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = DeepKernel(features[train], parameters, device)
        model.train(
            (features[train], target[train]), (features[validation], target[validation]), parameters
        )
    return model


class DeepKernel:
    """A network (n, F) to (n, features), and a sparse variational Gaussian process with an RBF kernel on what it gives."""

    def __init__(self, rows: torch.Tensor, parameters: Parameters, device: torch.device) -> None:
        import torch
        from gpytorch.likelihoods import GaussianLikelihood

        self.device = device
        widths = [rows.shape[1], *parameters["hidden_layer_sizes"]]
        hidden = [
            layer
            for pair in itertools.pairwise(widths)
            for layer in (torch.nn.Linear(*pair), torch.nn.ReLU())
        ]
        network = torch.nn.Sequential(
            *hidden, torch.nn.Linear(widths[-1], parameters["features"])
        ).to(device)
        chosen = torch.randperm(len(rows))[: parameters["inducing_points"]].to(device)
        with torch.no_grad():
            inducing = network(rows[chosen])
        self.parts: Any = torch.nn.ModuleDict(
            {
                "network": network,
                "process": _process(inducing).to(device),
                "likelihood": GaussianLikelihood().to(device),
            }
        )

    def train(self, train: Rows, validation: Rows, parameters: Parameters) -> None:
        """Adam on the bound, until the validation error has not fallen for `patience` epochs, or for `max_epochs`."""
        import torch
        from gpytorch.mlls import VariationalELBO

        features, target = train
        bound: Any = VariationalELBO(
            self.parts["likelihood"], self.parts["process"], num_data=len(target)
        )
        optimiser = torch.optim.Adam(self.parts.parameters(), lr=parameters["learning_rate"])
        best, state, waited = float("inf"), copy.deepcopy(self.parts.state_dict()), 0
        for _ in range(parameters["max_epochs"]):
            self.parts.train()
            for rows in (
                torch.randperm(len(target)).to(target.device).split(parameters["batch_size"])
            ):
                optimiser.zero_grad()
                loss = -bound(
                    self.parts["process"](self.parts["network"](features[rows])), target[rows]
                )
                loss.backward()
                optimiser.step()
            error = float(((self.mean(validation[0]) - validation[1]) ** 2).mean())
            waited += 1
            if error < best:
                best, state, waited = error, copy.deepcopy(self.parts.state_dict()), 0
            elif waited >= parameters["patience"]:
                break
        self.parts.load_state_dict(state)

    def mean(self, rows: torch.Tensor) -> torch.Tensor:
        """Posterior mean (n,) at rows (n, F)."""
        import torch

        self.parts.eval()
        with torch.no_grad():
            return torch.cat(
                [
                    self.parts["process"](self.parts["network"](part)).mean
                    for part in rows.split(CHUNK)
                ]
            )

    def exact_mean(
        self, rows: torch.Tensor, stored: torch.Tensor, shown: torch.Tensor
    ) -> torch.Tensor:
        """Posterior mean (m,) at rows (m, F) of an exact process that has seen `shown` (n,) at the rows `stored` (n, F)."""
        import torch

        self.parts.eval()
        process = self.parts["process"]
        with torch.no_grad():
            at, seen = (self.parts["network"](part) for part in (rows, stored))
            kernel, across = (
                process.covariance(one, seen).to_dense().double() for one in (seen, at)
            )
            mean = process.mean_module(seen[:1]).double()
            kernel.diagonal().add_(JITTER * kernel.diagonal().mean())
            weights = torch.cholesky_solve(
                (shown.double() - mean)[:, None], torch.linalg.cholesky(kernel)
            )[:, 0]
            return across @ weights + mean


def _process(inducing: torch.Tensor) -> Any:
    """A process with learned inducing points (m, features), which start at those given."""
    from gpytorch.distributions import MultivariateNormal
    from gpytorch.kernels import RBFKernel, ScaleKernel
    from gpytorch.means import ConstantMean
    from gpytorch.models import ApproximateGP
    from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy

    class Process(ApproximateGP):
        def __init__(self) -> None:
            distribution = CholeskyVariationalDistribution(len(inducing))
            super().__init__(
                VariationalStrategy(self, inducing, distribution, learn_inducing_locations=True)
            )
            self.mean_module, self.covariance = (
                ConstantMean(),
                ScaleKernel(RBFKernel(ard_num_dims=inducing.shape[1])),
            )

        def forward(self, x: torch.Tensor) -> Any:
            return MultivariateNormal(self.mean_module(x), self.covariance(x))  # type: ignore[arg-type]

    return Process()


def supports(task: Task) -> str | None:
    """Regression alone, as in the paper."""
    return None if task == "regression" else "deep kernel learning is for regression"


BASELINE = Baseline(
    "deep_kernel_learning",
    "DKL",
    fit,
    quick,
    paper,
    fixed={"max_epochs": 30_000, "patience": 20},
    slow=True,
    accelerated=True,
    supports=supports,
    recall=recall,
)
