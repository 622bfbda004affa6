"""xRFM (Beaglehole et al. 2025): kernel regression with a learned metric, of the package `xrfm`.

Kernel ridge regression on the train rows alternates with the metric, the average outer product of
its gradients (recursive feature machine, Radhakrishnan et al. 2024). xRFM splits larger tables by a
tree into parts of at most 60,000 rows. Tables here are one part. With other stored rows the
regression is solved again in the learned metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.fence import fenced
from baselines.grids import Parameters
from baselines.network_baseline import NetworkBaseline
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData

if TYPE_CHECKING:
    import torch

LEAST_PROBABILITY = 1e-3  # the package's own


class XRFM(NetworkBaseline):
    """xRFM."""

    name = "xrfm"
    title = "xRFM"
    trainer = "baselines.xrfm:KernelMachine"
    libraries = ("xrfm", "torch")
    extra = "xrfm"
    slow = False
    accelerated = False
    most_rows = 10_000  # a kernel of 0.8 GB in double precision, and its factorisation
    keeps_train_rows = True
    untrained = {"iterations": 0}
    defaults = {
        "kernel": "l2",
        "bandwidth": 10.0,
        "regularisation": 1e-3,
        "iterations": 5,
    }
    recalls = True
    test_settings = {"grid": {"bandwidth": [5.0]}, "fixed": {"iterations": 1}}

    # Six configurations.
    quick = {
        "kernel": ["l2"],
        "bandwidth": [3.0, 10.0],
        "regularisation": [1e-4, 1e-3, 1e-2],
    }

    # 24 configurations; the NPT paper is older.
    paper = {
        "kernel": ["l2", "l1"],
        "bandwidth": [1.0, 3.0, 10.0],
        "regularisation": [1e-4, 1e-3, 1e-2, 1e-1],
    }


class KernelMachine(RowPredictor):
    """Kernel ridge regression on stored rows, in the metric that was learned.

    The iteration with the lowest validation error counts.
    """

    @fenced()
    def __init__(self, data: TrainingData, parameters: Parameters, device: torch.device) -> None:
        from xrfm.rfm_src import RFM

        self.stored = data.stored_rows
        self.prior = self.stored.targets.mean(0)
        self.regularisation = parameters["regularisation"]
        iterations = parameters["iterations"]
        self.machine: Any = RFM(
            parameters["kernel"],
            bandwidth=parameters["bandwidth"],
            diag=True,
            device="cpu",
            tuning_metric="mse",
            verbose=False,
        )
        if iterations:
            self.machine.fit(
                self._labelled(data, data.train),
                self._labelled(data, data.validation),
                iters=iterations,
                reg=self.regularisation,
            )
            # So that distances hardly depend on which rows are compared together.
            for name in ("M", "sqrtM"):
                metric = getattr(self.machine, name)
                if metric is not None:
                    setattr(self.machine, name, metric.double())

    def predict_from(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Values (n,), or probabilities (n, K): regressed one-hot classes, made positive."""
        residuals = stored.targets - self.prior
        values = self.prior + self.weights(stored, features, parameters) @ residuals
        if stored.classes is None:
            return values[:, 0]
        values = values.clip(LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        return values / values.sum(1, keepdims=True)

    def weights(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """k(x, X) (K + r I)^-1 (n, m): values are the prior plus these times the residuals."""
        kernel = self._kernel(stored.features, stored.features)
        kernel[np.diag_indices_from(kernel)] += self.regularisation
        across = self._kernel(stored.features, features)
        return np.linalg.solve(kernel, across).T

    def _kernel(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            kernel = self.machine.kernel(torch.as_tensor(rows), torch.as_tensor(others))
        return kernel.numpy()

    def _labelled(self, data: TrainingData, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Features and residual targets of some rows; of a class without train rows, none."""
        import torch

        targets = data.target[rows][:, None]
        if not data.is_regression:
            targets = (targets == data.seen_classes).astype(float)
        features = torch.as_tensor(data.features[rows], dtype=torch.float32)
        return features, torch.as_tensor(targets - self.prior, dtype=torch.float32)


BASELINE = XRFM()
