"""Multi-layer perceptron of scikit-learn (paper Table 22).

`early_stopping` holds out a tenth of the train rows, as in the paper's code; where that is less than two rows, or a class of
two has a single row, which scikit-learn refuses, no rows are held out. The solver is Adam, for which the schedules
of the paper's grid are the same model: they stay in the grid so that its size is the paper's, and are fitted once.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence

import numpy as np

from baselines.declaration import (
    Baseline,
    Fitted,
    Grid,
    Parameters,
    Size,
    TrainingData,
    build,
    fit_estimator,
    serving_one,
    train_labels,
)
from npt.interface import Resources
from npt.table import Task

SCHEDULES = ["constant", "invscaling", "adaptive"]
LAYOUTS = [
    layers
    for depth in (1, 2, 3)
    for layers in ([width] * depth for width in (25, 50, 100, 250, 500))
]


def paper(task: Task, size: Size) -> Grid:
    """11,340 configurations for small tables, 270 for others."""
    if size == "small":
        return {
            "hidden_layer_sizes": LAYOUTS,
            "alpha": [0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1],
            "batch_size": [32, 64, 128, 256],
            "learning_rate": SCHEDULES,
            "learning_rate_init": [x * 10**-y for y, x in itertools.product((5, 4, 3, 2), (1, 5))]
            + [0.1],
        }
    return {
        "hidden_layer_sizes": [[width] * 3 for width in (25, 100, 500)],
        "alpha": [0, 1e-4, 1e-2],
        "batch_size": [128, 256],
        "learning_rate": SCHEDULES,
        "learning_rate_init": [1e-5, 1e-4, 1e-3, 1e-2, 0.1],
    }


def quick(task: Task) -> Grid:
    """8 configurations."""
    return {
        "hidden_layer_sizes": [[100], [100, 100]],
        "alpha": [1e-4, 1e-2],
        "batch_size": [32],
        "learning_rate": ["constant"],
        "learning_rate_init": [1 * 10**-3, 1 * 10**-2],
    }


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Fit one network; stopping at the epoch limit is not a fault."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    (parameters,) = configurations
    if not _can_hold_out(data, parameters.get("validation_fraction", 0.1)):
        parameters = {**parameters, "early_stopping": False}
    network = MLPRegressor if data.is_regression else MLPClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Got `batch_size`")
        return serving_one(fit_estimator(build(network, parameters, random_state=seed), data))


def _can_hold_out(data: TrainingData, share: float) -> bool:
    """Whether scikit-learn can part validation rows from the train rows; of two classes each must be on both sides."""
    labels = train_labels(data)
    counts = [2] if data.is_regression else np.bincount(labels)
    return math.ceil(share * len(labels)) >= 2 and (len(counts) != 2 or min(counts) >= 2)


def model(parameters: Parameters, data: TrainingData) -> Parameters:
    """Without the schedule, which only plain gradient descent follows."""
    plain = parameters.get("solver", "adam") == "sgd"
    return (
        parameters
        if plain
        else {name: value for name, value in parameters.items() if name != "learning_rate"}
    )


BASELINE = Baseline(
    "mlp", "MLP", fit, quick, paper, fixed={"early_stopping": True}, model=model, slow=True
)
