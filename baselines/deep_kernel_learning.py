"""Deep kernel learning (Wilson et al. 2016): a Gaussian process on learned features (Table 3).

Network and process (GPyTorch) are trained together in minibatches on the variational bound with
inducing points (Hensman et al. 2013), and stopped early on the validation rows. The grid is around
the configuration that the paper names (section B.1), with the layers and features of its released
code. The 1,000 inducing points, dropout and gradient descent of that code are not in the grid.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from baselines.baseline import Baseline, Predictor
from baselines.estimators import require_known
from baselines.grids import Grid, Parameters, Size
from baselines.training_data import TrainingData
from npt.interface import Infeasible, Resources
from npt.probing import Duplicates
from npt.table import Task

if TYPE_CHECKING:
    import torch

    Rows = tuple[torch.Tensor, torch.Tensor]

CHUNK = 4096  # rows that are predicted together
FROM_DUPLICATES = "from_duplicates"  # whether the lookup task's duplicates teach it the kernel
JITTERS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # added to the kernel's diagonal, as fractions of its mean


class DeepKernelLearning(Baseline):
    """Deep kernel learning of GPyTorch."""

    name = "deep_kernel_learning"
    title = "DKL"
    libraries = ("gpytorch", "torch")
    fixed: ClassVar[Parameters] = {"max_epochs": 30_000, "patience": 20, FROM_DUPLICATES: False}
    slow = True
    accelerated = True
    recalls = True
    test_settings: ClassVar[Parameters] = {"grid": "quick", "fixed": {"max_epochs": 1}}

    def quick_grid(self, task: Task) -> Grid:
        """One configuration, which learns fast."""
        return {
            "hidden_layer_sizes": [[100, 100]],
            "features": [8],
            "inducing_points": [64],
            "learning_rate": [1e-3],
            "batch_size": [128],
        }

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        """16 configurations."""
        grid = {
            "hidden_layer_sizes": [[100, 100], [100]],
            "features": [8, 10],
            "inducing_points": [256, 64],
            "learning_rate": [1e-4, 1e-3],
            "batch_size": [128],
        }
        return [grid]

    def supports(self, task: Task) -> str | None:
        """Regression alone, as in the paper."""
        return None if task == "regression" else "deep kernel learning is for regression"

    def known_parameters(self, task: Task) -> Collection[str]:
        """Those with a default."""
        return {*self.paper_grids("regression", "small")[0], *self.fixed}

    def fit(
        self,
        data: TrainingData,
        configurations: Sequence[Parameters],
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Train one model; its weights are those of the best epoch on the validation rows.

        Raises:
            UserError: A parameter is unknown.
        """
        (parameters,) = configurations
        return DeepKernelPredictor(self._trained(data, parameters, seed, resources))

    def recall(
        self, predictor: Predictor, duplicates: Duplicates, parameters: Parameters
    ) -> np.ndarray:
        """An exact process on the embedded duplicates with the trained kernel (section B.1).

        It is computed in double precision. Targets of duplicates are observed without noise, but
        for the least of JITTERS with which the kernel has a Cholesky factor.

        Raises:
            Infeasible: There is none.
        """
        assert isinstance(predictor, DeepKernelPredictor)
        model = predictor.model
        inputs = (duplicates.originals, duplicates.duplicates, duplicates.shown)
        originals, observed, values = [_tensor(part, model.device).double() for part in inputs]
        return model.exact_mean(originals, observed, values).cpu().numpy()

    def _trained(
        self, data: TrainingData, stated: Parameters, seed: int, resources: Resources
    ) -> DeepKernel:
        import torch

        (paper,) = self.paper_grids(data.task, "small")
        defaults = {name: values[0] for name, values in paper.items()}
        require_known(stated, [*defaults, *self.fixed], "deep kernel learning")
        parameters = {**defaults, **stated}
        torch.set_num_threads(resources.threads)
        device = torch.device(resources.device)
        features = _tensor(data.features, device)
        target = _tensor(data.target, device)
        train = torch.as_tensor(data.train, device=device)
        validation = torch.as_tensor(data.validation, device=device)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = DeepKernel(features[train], parameters, device)
            model.train(
                (features[train], target[train]),
                (features[validation], target[validation]),
                parameters,
            )
        return model


class DeepKernel:
    """A network (n, F) to (n, features), and a sparse variational process with an RBF kernel."""

    def __init__(self, rows: torch.Tensor, parameters: Parameters, device: torch.device) -> None:
        import torch
        from gpytorch.likelihoods import GaussianLikelihood

        self.device = device
        network = _network(rows.shape[1], parameters).to(device)
        chosen = torch.randperm(len(rows))[: parameters["inducing_points"]].to(device)
        with torch.no_grad():
            inducing = network(rows[chosen])
        parts = {
            "network": network,
            "process": _process(inducing).to(device),
            "likelihood": GaussianLikelihood().to(device),
        }
        self.parts: Any = torch.nn.ModuleDict(parts)

    def train(self, train: Rows, validation: Rows, parameters: Parameters) -> None:
        """Adam on the bound, for `max_epochs` or until `patience` epochs without a lower error.

        Args:
            train: Features (n, F) and standardised target (n,).
            validation: Likewise; the weights of the epoch with its lowest error are kept.
            parameters: The configuration.
        """
        import torch
        from gpytorch.mlls import VariationalELBO

        process = self.parts["process"]
        bound: Any = VariationalELBO(self.parts["likelihood"], process, num_data=len(train[1]))
        optimiser = torch.optim.Adam(self.parts.parameters(), lr=parameters["learning_rate"])
        lowest = float("inf")
        best = copy.deepcopy(self.parts.state_dict())
        waited = 0
        for _ in range(parameters["max_epochs"]):
            self._train_epoch(bound, optimiser, train, parameters["batch_size"])
            error = float(((self.mean(validation[0]) - validation[1]) ** 2).mean())
            waited += 1
            if error < lowest:
                lowest = error
                best = copy.deepcopy(self.parts.state_dict())
                waited = 0
            elif waited >= parameters["patience"]:
                break
        self.parts.load_state_dict(best)

    def _train_epoch(
        self, bound: Any, optimiser: torch.optim.Optimizer, train: Rows, batch_size: int
    ) -> None:
        import torch

        features, target = train
        self.parts.train()
        order = torch.randperm(len(target)).to(target.device)
        for rows in order.split(batch_size):
            optimiser.zero_grad()
            loss = -bound(self._process_at(features[rows]), target[rows])
            loss.backward()
            optimiser.step()

    def _process_at(self, rows: torch.Tensor) -> Any:
        return self.parts["process"](self.parts["network"](rows))

    def mean(self, rows: torch.Tensor) -> torch.Tensor:
        """Posterior mean (n,) at rows (n, F)."""
        import torch

        self.parts.eval()
        with torch.no_grad():
            means = [self._process_at(part).mean for part in rows.split(CHUNK)]
            return torch.cat(means)

    def exact_mean(
        self, rows: torch.Tensor, observed: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """Posterior mean (m,) of an exact process.

        Args:
            rows: Features (m, F) to predict at.
            observed: Features (n, F).
            values: Observed there (n,), standardised.
        """
        import torch

        parts = copy.deepcopy(self.parts).eval().double()
        process = parts["process"]
        with torch.no_grad():
            inputs = parts["network"](observed)  # (n, features)
            across = process.covariance(parts["network"](rows), inputs).to_dense()  # (m, n)
            mean = process.mean_module(inputs[:1])
            factor = _factor(process.covariance(inputs, inputs).to_dense())
            residuals = (values - mean)[:, None]
            return across @ torch.cholesky_solve(residuals, factor)[:, 0] + mean


@dataclass(frozen=True)
class DeepKernelPredictor:
    """Predicts by the sparse process of a trained model, for its one configuration."""

    model: DeepKernel

    def __call__(
        self, features: np.ndarray, configurations: Sequence[Parameters]
    ) -> list[np.ndarray]:
        """Standardised values (n,) of features (n, F)."""
        mean = self.model.mean(_tensor(features, self.model.device))
        return [mean.cpu().numpy()]


def _factor(kernel: torch.Tensor) -> torch.Tensor:
    """Cholesky factor (n, n) of a kernel, whose diagonal grows in place until there is one.

    Raises:
        Infeasible: The kernel has none with the largest jitter.
    """
    import torch

    scale = kernel.diagonal().mean()
    added = 0.0
    for jitter in JITTERS:
        kernel.diagonal().add_((jitter - added) * scale)
        added = jitter
        factor, failed = torch.linalg.cholesky_ex(kernel)
        if not failed and factor.isfinite().all():
            return factor
    raise Infeasible(f"the kernel of {len(kernel)} rows has no Cholesky factor")


def _network(inputs: int, parameters: Parameters) -> torch.nn.Sequential:
    """A network with ReLU between its layers."""
    import torch

    widths = [inputs, *parameters["hidden_layer_sizes"]]
    layers: list[torch.nn.Module] = []
    for width_in, width_out in itertools.pairwise(widths):
        layers += [torch.nn.Linear(width_in, width_out), torch.nn.ReLU()]
    layers.append(torch.nn.Linear(widths[-1], parameters["features"]))
    return torch.nn.Sequential(*layers)


def _process(inducing: torch.Tensor) -> Any:
    """A process whose inducing points are learned, from initial ones (m, features)."""
    from gpytorch.distributions import MultivariateNormal
    from gpytorch.kernels import RBFKernel, ScaleKernel
    from gpytorch.means import ConstantMean
    from gpytorch.models import ApproximateGP
    from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy

    class Process(ApproximateGP):
        def __init__(self) -> None:
            distribution = CholeskyVariationalDistribution(len(inducing))
            strategy = VariationalStrategy(
                self, inducing, distribution, learn_inducing_locations=True
            )
            super().__init__(strategy)
            self.mean_module = ConstantMean()
            self.covariance = ScaleKernel(RBFKernel(ard_num_dims=inducing.shape[1]))

        def forward(self, x: torch.Tensor) -> Any:
            mean: Any = self.mean_module(x)
            return MultivariateNormal(mean, self.covariance(x))

    return Process()


def _tensor(values: np.ndarray, device: torch.device) -> torch.Tensor:
    import torch

    return torch.as_tensor(values, dtype=torch.float32, device=device)


BASELINE = DeepKernelLearning()
