"""Deep kernel learning (Wilson et al. 2016): a Gaussian process on learned features (Table 3).

Network and process (GPyTorch) are trained together in minibatches on the variational bound with
inducing points (Hensman et al. 2013), and stopped early on the validation rows. The grid is around
the configuration that the paper names (section B.1), with the layers and features of its released
code. The 1,000 inducing points, dropout and gradient descent of that code are not in the grid.
"""

from __future__ import annotations

from baselines.network_baseline import NetworkBaseline
from npt.table import Task

FROM_DUPLICATES = "from_duplicates"  # whether the lookup task's duplicates teach it the kernel


class DeepKernelLearning(NetworkBaseline):
    """Deep kernel learning of GPyTorch."""

    name = "deep_kernel_learning"
    title = "DKL"
    version = 2
    trainer = "baselines.networks.deep_kernel_learning:fit_deep_kernel"
    libraries = ("gpytorch", "torch")
    defaults = {
        "hidden_layer_sizes": [100, 100],
        "features": 8,
        "inducing_points": 256,
        "learning_rate": 1e-4,
        "batch_size": 128,
        "max_epochs": 30_000,
        "patience": 20,
        FROM_DUPLICATES: False,
    }
    recalls = True
    test_settings = {"grid": "quick", "fixed": {"max_epochs": 1}}

    # One configuration, which learns fast.
    quick = {
        "hidden_layer_sizes": [[100, 100]],
        "features": [8],
        "inducing_points": [64],
        "learning_rate": [1e-3],
        "batch_size": [128],
    }
    # 16 configurations.
    paper = {
        "hidden_layer_sizes": [[100, 100], [100]],
        "features": [8, 10],
        "inducing_points": [256, 64],
        "learning_rate": [1e-4, 1e-3],
        "batch_size": [128],
    }

    def supports(self, task: Task) -> str | None:
        """Regression alone, as in the paper."""
        return None if task == "regression" else "deep kernel learning is for regression"


BASELINE = DeepKernelLearning()
