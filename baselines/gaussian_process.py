"""Exact Gaussian process regression (Rasmussen and Williams 2006, chapter 2); not in the paper.

The kernel's hyper-parameters and the noise maximise the marginal likelihood (scikit-learn). Classes
are regressed on as one-hot targets with one kernel for all (least-squares classification, section
6.5 there). The probability of a class is that of its target being above 1/2, normalised.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field
from scipy.linalg import cho_solve
from scipy.optimize import minimize
from scipy.special import ndtr

from baselines.baseline import Baseline
from baselines.grids import Parameters
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.validation import Strict

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

SMOOTHNESS = {"rbf": math.inf, "matern_5/2": 2.5, "matern_3/2": 1.5}  # of the Matérn kernels
LEARNING_CELLS = 32_000_000  # rows squared times features: gradients of 256 MB
ITERATIONS = 40  # of L-BFGS
NOISE = (1e-4, 2.0)  # bounds of its variance, in that of numbers as targets
SIGNAL = (1e-2, 1e3)  # bounds of the kernel's variance
LENGTHS = (5e-2, 1e4)  # bounds of the length scales, in standard deviations of a feature
LEAST_PROBABILITY = 1e-6


class ProcessSettings(Strict):
    """Parameters.

    Attributes:
        relevance: A length scale for each feature.
        learn: Whether the kernel's hyper-parameters are learned.
        learning_rows: Number of rows from which they are.
    """

    kernel: Literal["rbf", "matern_5/2", "matern_3/2"] = "rbf"
    relevance: bool = True
    learn: bool = True
    learning_rows: int = Field(default=1000, ge=1)


class GaussianProcess(Baseline):
    """Exact Gaussian process."""

    name = "gaussian_process"
    title = "GP"
    libraries = ("scikit-learn", "scipy")
    most_rows = 5000  # a covariance matrix of 200 MB, and some seconds for each factorisation
    keeps_train_rows = True
    untrained = {"learn": False}
    schema = ProcessSettings
    defaults = ProcessSettings().model_dump()
    recalls = True
    test_settings = {"grid": {"kernel": ["rbf"], "relevance": [False]}}

    # One kernel with a length scale for each feature, learned from few rows.
    quick = {"kernel": ["matern_3/2"], "relevance": [True], "learning_rows": [200]}

    # Six configurations; the paper has no exact Gaussian process.
    paper = {
        "kernel": list(SMOOTHNESS),
        "relevance": [True, False],
        "learning_rows": [1000],
    }

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Posterior:
        """Learn hyper-parameters from at most `learning_rows` train rows, and store all of them."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor

        stored = data.stored_rows
        features = stored.features.shape[1]
        most = min(parameters["learning_rows"], math.isqrt(LEARNING_CELLS // max(1, features)))
        if len(stored.labels) > most:
            chosen = np.random.default_rng(seed).choice(len(stored.labels), most, replace=False)
            stored = stored.take(np.sort(chosen))
        optimiser: Any = _most_likely if parameters["learn"] else None
        process = GaussianProcessRegressor(
            _initial_kernel(features, parameters),
            alpha=0.0,
            optimizer=optimiser,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a bound that is reached
            process.fit(stored.features, stored.targets - stored.targets.mean(0))
        learned: Any = process.kernel_
        return Posterior(data, learned)


class Posterior(RowPredictor):
    """A Gaussian process with the kernel that was learned, given stored rows.

    Its mean without any row is that of the train targets, or the shares of the classes.
    """

    def __init__(self, data: TrainingData, kernel: Kernel) -> None:
        self.stored = data.stored_rows
        self.prior = self.stored.targets.mean(0)
        self.kernel = kernel

    def predict_from(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Posterior means (n,), or probabilities (n, K)."""
        process = self._given(stored)
        if stored.classes is None:
            return self.prior + process.predict(features)
        residuals, deviations = process.predict(features, return_std=True)
        above = ndtr((self.prior + residuals - 0.5) / deviations)
        above = np.maximum(above, LEAST_PROBABILITY)
        return above / above.sum(1, keepdims=True)

    def weights(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """k(x, X) (K + s I)^-1 (n, m): the mean is the prior plus these times the residuals."""
        process = self._given(stored)
        across = process.kernel_(stored.features, features)
        return cho_solve((process.L_, True), across).T

    def _given(self, stored: StoredRows) -> Any:
        """The process of residual targets (m, K), with the same kernel, given some rows."""
        from sklearn.gaussian_process import GaussianProcessRegressor

        fixed: Any = None  # which the annotation of the optimiser leaves out
        process = GaussianProcessRegressor(self.kernel, alpha=0.0, optimizer=fixed)
        return process.fit(stored.features, stored.targets - self.prior)


def _most_likely(objective: Any, initial: np.ndarray, bounds: Any) -> tuple[np.ndarray, float]:
    """Hyper-parameters where the objective is lowest, and its value there."""
    options = {"maxiter": ITERATIONS}
    lowest = minimize(objective, initial, jac=True, bounds=bounds, options=options)
    return lowest.x, lowest.fun


def _initial_kernel(features: int, parameters: Parameters) -> Kernel:
    """Signal times a Matérn kernel, plus noise, before learning."""
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    lengths: Any = np.full(features, math.sqrt(features)) if parameters["relevance"] else 1.0
    shape = Matern(lengths, LENGTHS, nu=SMOOTHNESS[parameters["kernel"]])
    return ConstantKernel(1.0, SIGNAL) * shape + WhiteKernel(0.1, NOISE)


BASELINE = GaussianProcess()
