"""Multi-layer perceptron of scikit-learn (paper Table 22).

`early_stopping` holds out a tenth of the train rows, as in the paper's code. No rows are held out
where scikit-learn would refuse: fewer than two, or one of two classes has a single row. The solver
is Adam, for which the schedules of the paper's grid are one model. They stay in the grid, so that
its size is the paper's, and are fitted once.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from baselines.baseline import Predictor
from baselines.estimators import EstimatorBaseline
from baselines.grids import Grid, Parameters, Size
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.table import Task

SCHEDULES = ["constant", "invscaling", "adaptive"]
WIDTHS = (25, 50, 100, 250, 500)
LAYERS = [[width] * depth for depth in (1, 2, 3) for width in WIDTHS]
RATES = [x * 10**-y for y in (5, 4, 3, 2) for x in (1, 5)]
HELD_OUT = 0.1  # fraction of the train rows that early stopping holds out, the library's default


class MLP(EstimatorBaseline):
    """Multi-layer perceptron of scikit-learn."""

    name = "mlp"
    title = "MLP"
    regressor = "sklearn.neural_network.MLPRegressor"
    classifier = "sklearn.neural_network.MLPClassifier"
    libraries = ("scikit-learn",)
    defaults = {"early_stopping": True}
    slow = True
    test_settings = {
        "grid": {"hidden_layer_sizes": [[4]], "batch_size": [16]},
        "fixed": {"max_iter": 3},
    }

    quick = {
        "hidden_layer_sizes": [[100], [100, 100]],
        "alpha": [1e-4, 1e-2],
        "batch_size": [32],
        "learning_rate": ["constant"],
        "learning_rate_init": [1 * 10**-3, 1 * 10**-2],
    }

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        """11,340 configurations for small tables, 270 for others."""
        if size == "small":
            grid = {
                "hidden_layer_sizes": LAYERS,
                "alpha": [0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1],
                "batch_size": [32, 64, 128, 256],
                "learning_rate": SCHEDULES,
                "learning_rate_init": [*RATES, 0.1],
            }
            return [grid]
        grid = {
            "hidden_layer_sizes": [[width] * 3 for width in (25, 100, 500)],
            "alpha": [0, 1e-4, 1e-2],
            "batch_size": [128, 256],
            "learning_rate": SCHEDULES,
            "learning_rate_init": [1e-5, 1e-4, 1e-3, 1e-2, 0.1],
        }
        return [grid]

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit one network; reaching the epoch limit is no failure."""
        from sklearn.exceptions import ConvergenceWarning

        if not _can_hold_out(data, parameters.get("validation_fraction", HELD_OUT)):
            parameters = {**parameters, "early_stopping": False}
        parameters = {"random_state": seed, **parameters}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message="Got `batch_size`")
            return super().fit(data, parameters, seed, resources)

    def effective_parameters(self, parameters: Parameters, data: TrainingData) -> Parameters:
        """Without the schedule, which only plain gradient descent follows."""
        if parameters.get("solver", "adam") == "sgd":
            return parameters
        return {name: value for name, value in parameters.items() if name != "learning_rate"}


def _can_hold_out(data: TrainingData, fraction: float) -> bool:
    """Whether scikit-learn can split off validation rows; each of two classes needs two rows."""
    labels = data.train_labels
    if math.ceil(fraction * len(labels)) < 2:
        return False
    if data.is_regression:
        return True
    counts = np.bincount(labels)
    return len(counts) != 2 or min(counts) >= 2


BASELINE = MLP()
