"""TabNet (Arik and Pfister 2021) of pytorch-tabnet (paper Tables 24, 25), stopped early on the validation rows.

Categories are integer codes with embeddings of the network's own, as in the paper.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from baselines.declaration import (
    Baseline,
    Fitted,
    Grid,
    Parameters,
    Size,
    TrainingData,
    prediction_function,
    require_known,
    seen_classes,
    serving_one,
    train_labels,
)
from npt.interface import Infeasible, Resources
from npt.metrics import negative_log_likelihood
from npt.table import Task

DEFAULT = {
    "n_d": 8, "n_a": 8, "lambda_sparse": 1e-4, "batch_size": 128, "virtual_batch_size": 16, "momentum": 0.02, "n_steps": 3,
    "gamma": 1.3, "learning_rate": 0.02, "decay": 0.95, "decay_every": 10,
}  # fmt: skip

# The configurations of the TabNet paper, named after the tables they were chosen for.
TABNET_PAPER = {
    "forest_cover": (64, 64, 1e-4, 16384, 512, 0.7, 5, 1.5, 0.02, 0.95, 500),
    "higgs": (96, 32, 1e-6, 8192, 256, 0.9, 8, 2.0, 0.025, 0.9, 10000),
    "income": (16, 16, 1e-4, 4096, 128, 0.98, 5, 1.5, 0.02, 0.4, 2500),
    "sarcos": (128, 128, 1e-4, 4096, 128, 0.8, 5, 1.5, 0.02, 0.9, 8000),
    "mushroom": (8, 8, 1e-3, 2048, 128, 0.9, 3, 1.5, 0.02, 0.4, 2500),
    "poker_hand": (16, 16, 1e-6, 4096, 1024, 0.95, 4, 1.5, 0.01, 0.95, 500),
}


def paper(task: Task, size: Size) -> Grid | list[Grid]:
    """48 configurations for small tables; for others the TabNet paper's six and the default."""
    if size == "small":
        tuned = {
            "n_d": [8, 16],
            "n_a": [8, 16],
            "batch_size": [16, 32, 64, 128],
            "virtual_batch_size": [4, 8, 16],
        }
        return {**{key: [value] for key, value in DEFAULT.items()}, **tuned}
    known = [dict(zip(DEFAULT, values, strict=True)) for values in TABNET_PAPER.values()]
    library_default = {
        **DEFAULT,
        "batch_size": 1024,
        "virtual_batch_size": 128,
        "lambda_sparse": 1e-3,
    }
    return [{key: [value] for key, value in one.items()} for one in (*known, library_default)]


def quick(task: Task) -> Grid:
    """One configuration of the small tables' grid, with the largest batches."""
    return {key: [value] for key, value in DEFAULT.items()}


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Train one network; its weights are those of the best epoch on the validation rows.

    Raises:
        Infeasible: too few rows for batch normalisation, or training diverged.
        UserError: a parameter is unknown.
    """
    import torch
    from pytorch_tabnet.tab_model import TabNetClassifier, TabNetRegressor

    if len(data.train) < 2:
        raise Infeasible(f"TabNet needs two train rows, there are {len(data.train)}")
    torch.set_num_threads(resources.threads)
    (given,) = configurations
    require_known(given, [*DEFAULT, "max_epochs", "patience"], "TabNet")
    parameters = {**DEFAULT, **given}
    virtual = parameters["virtual_batch_size"]
    batch = _batch_size(parameters["batch_size"], len(data.train), virtual)
    settings = {
        key: parameters[key]
        for key in ("n_d", "n_a", "lambda_sparse", "momentum", "n_steps", "gamma")
    }
    with warnings.catch_warnings(), torch.random.fork_rng([]):
        warnings.simplefilter("ignore")
        network: Any = (TabNetRegressor if data.is_regression else TabNetClassifier)(
            **settings, cat_idxs=list(data.categorical), cat_dims=list(data.sizes), cat_emb_dim=1,
            optimizer_params={"lr": parameters["learning_rate"]}, scheduler_fn=torch.optim.lr_scheduler.StepLR,
            scheduler_params={"step_size": parameters["decay_every"], "gamma": parameters["decay"]},
            seed=seed, verbose=0, device_name=resources.device,
        )  # fmt: skip
        _fit(
            network, data.features[data.train], _shaped(data, train_labels(data)), eval_set=[_validation(data)],
            eval_metric=["mse" if data.is_regression else _log_loss()], max_epochs=parameters["max_epochs"],
            patience=parameters["patience"], batch_size=batch,
            virtual_batch_size=min(virtual, batch), drop_last=_has_lone_row(len(data.train) % batch, virtual),
        )  # fmt: skip
    return serving_one(prediction_function(network, data))


def _fit(network: Any, features: np.ndarray, labels: np.ndarray, **options: Any) -> None:
    """Train; rows that repeat within a virtual batch have no variance to normalise by, and gradients may overflow."""
    try:
        network.fit(features, labels, **options)
    except (RuntimeError, IndexError) as error:
        if "index -1 is out of bounds" not in str(
            error
        ):  # what sparsemax makes of weights that are not finite
            raise
        raise Infeasible(
            "TabNet diverged: its weights are not finite (many rows are equal in a virtual batch)"
        ) from error


def _batch_size(wanted: int, rows: int, virtual: int) -> int:
    """At most the table, as a larger batch would train on nothing; less where its parts would leave one row over."""
    batch = min(wanted, rows)
    while batch > 2 and _has_lone_row(batch, virtual):
        batch -= 1
    return batch


def _has_lone_row(rows: int, virtual: int) -> bool:
    """Whether batch normalisation over parts of at most `virtual` rows meets a part of one row, on which it fails."""
    if rows == 0:
        return False
    size = math.ceil(rows / math.ceil(rows / virtual))
    return rows % size == 1 or size == 1


@cache
def _log_loss() -> type:
    """The library's log loss fails where the validation rows lack a class; this one knows all classes."""
    from pytorch_tabnet.metrics import Metric

    class LogLossOfAllClasses(Metric):
        def __init__(self) -> None:
            self._name, self._maximize = "log_loss_of_all_classes", False

        def __call__(self, y_true: np.ndarray, y_score: np.ndarray) -> float:
            return negative_log_likelihood(y_true, y_score / y_score.sum(1, keepdims=True))

    return LogLossOfAllClasses


def _shaped(data: TrainingData, target: np.ndarray) -> np.ndarray:
    return target[:, None] if data.is_regression else target


def _validation(data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Validation rows for early stopping; classes that no train row has cannot be scored by the library."""
    rows, target = data.validation, data.target[data.validation]
    if data.is_regression:
        return data.features[rows], target[:, None]
    known = np.isin(target, seen_classes(data))
    return data.features[rows[known]], np.searchsorted(seen_classes(data), target[known])


BASELINE = Baseline(
    "tabnet",
    "TabNet",
    fit,
    quick,
    paper,
    fixed={"max_epochs": 3000, "patience": 100},
    codes=True,
    native=True,
    slow=True,
    accelerated=True,
)
