"""TabNet (Arik and Pfister 2021) of pytorch-tabnet (paper Tables 24, 25), with early stopping.

Training stops early on the validation rows. Categories are integer codes with embeddings that the
network learns, as in the paper.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from baselines.baseline import Baseline, Predictor
from baselines.estimators import prediction_function, single_model
from baselines.fence import fenced
from baselines.grids import Grid, Parameters, Size, single_point
from baselines.training_data import TrainingData
from npt.errors import Infeasible
from npt.interface import Resources
from npt.metrics import negative_log_likelihood
from npt.table import Task

TUNED = {
    "n_d": 8,
    "n_a": 8,
    "lambda_sparse": 1e-4,
    "batch_size": 128,
    "virtual_batch_size": 16,
    "momentum": 0.02,
    "n_steps": 3,
    "gamma": 1.3,
    "learning_rate": 0.02,
    "decay": 0.95,
    "decay_every": 10,
}
NETWORK = ("n_d", "n_a", "lambda_sparse", "momentum", "n_steps", "gamma")

# Configurations of the TabNet paper by the table they were chosen for; names as in TUNED.
TABNET_PAPER = {
    "forest_cover": (64, 64, 1e-4, 16384, 512, 0.7, 5, 1.5, 0.02, 0.95, 500),
    "higgs": (96, 32, 1e-6, 8192, 256, 0.9, 8, 2.0, 0.025, 0.9, 10000),
    "income": (16, 16, 1e-4, 4096, 128, 0.98, 5, 1.5, 0.02, 0.4, 2500),
    "sarcos": (128, 128, 1e-4, 4096, 128, 0.8, 5, 1.5, 0.02, 0.9, 8000),
    "mushroom": (8, 8, 1e-3, 2048, 128, 0.9, 3, 1.5, 0.02, 0.4, 2500),
    "poker_hand": (16, 16, 1e-6, 4096, 1024, 0.95, 4, 1.5, 0.01, 0.95, 500),
}


class TabNet(Baseline):
    """TabNet."""

    name = "tabnet"
    title = "TabNet"
    libraries = ("pytorch-tabnet", "torch")
    # The paper's code passes no schedule to the library, whose learning rate is then constant.
    defaults = {
        **TUNED,
        "max_epochs": 3000,
        "patience": 100,
        "decay_learning_rate": False,
    }
    embeds_categories = True
    takes_categories = True
    slow = True
    accelerated = True
    # Normalised over four rows at a time, networks of two processors differ by percents.
    test_settings = {
        "grid": {"n_d": [2], "n_a": [2], "batch_size": [32], "virtual_batch_size": [16]},
        "fixed": {"max_epochs": 1, "patience": 1},
    }

    # One configuration of the small tables' grid, with the largest batches.
    quick = single_point(TUNED)

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        """48 configurations for small tables; for others the TabNet paper's six and the default."""
        if size == "small":
            tuned = {
                "n_d": [8, 16],
                "n_a": [8, 16],
                "batch_size": [16, 32, 64, 128],
                "virtual_batch_size": [4, 8, 16],
            }
            return [{**self.quick, **tuned}]
        library_default = {
            **TUNED,
            "batch_size": 1024,
            "virtual_batch_size": 128,
            "lambda_sparse": 1e-3,
        }
        published = [dict(zip(TUNED, values, strict=True)) for values in TABNET_PAPER.values()]
        return [single_point(parameters) for parameters in (*published, library_default)]

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Train one network; its weights are those of the best epoch on the validation rows.

        Raises:
            Infeasible: Training diverged.
        """
        import torch
        from pytorch_tabnet.tab_model import TabNetClassifier, TabNetRegressor
        from torch.optim.lr_scheduler import StepLR

        torch.set_num_threads(resources.threads)
        schedule: dict[str, Any] = {}
        if parameters["decay_learning_rate"]:
            steps = {"step_size": parameters["decay_every"], "gamma": parameters["decay"]}
            schedule = {"scheduler_fn": StepLR, "scheduler_params": steps}
        kind: Any = TabNetRegressor if data.is_regression else TabNetClassifier
        with fenced():
            network = kind(
                **{name: parameters[name] for name in NETWORK},
                cat_idxs=list(data.categorical),
                cat_dims=list(data.categorical.values()),
                cat_emb_dim=1,
                optimizer_params={"lr": parameters["learning_rate"]},
                **schedule,
                seed=seed,
                verbose=0,
                device_name=resources.device,
            )
            _train(network, data, parameters)
        # Its loader draws from the global generator.
        return single_model(fenced()(prediction_function(network, data)))


def _train(network: Any, data: TrainingData, parameters: Parameters) -> None:
    rows = len(data.train)
    virtual = parameters["virtual_batch_size"]
    batch = _batch_size(parameters["batch_size"], rows, virtual)
    labels = data.train_labels
    features, targets = data.early_stopping
    if data.is_regression:
        labels = labels[:, None]
        targets = targets[:, None]
    try:
        network.fit(
            data.train_features,
            labels,
            eval_set=[(features, targets)],
            eval_metric=["mse" if data.is_regression else _log_loss()],
            max_epochs=parameters["max_epochs"],
            patience=parameters["patience"],
            batch_size=batch,
            virtual_batch_size=min(virtual, batch),
            drop_last=_has_lone_row(rows % batch, virtual),
        )
    except (RuntimeError, IndexError) as error:
        # Weights that are not finite fail in sparsemax with this index.
        if "index -1 is out of bounds" not in str(error):
            raise
        raise Infeasible(
            "TabNet diverged: its weights are not finite (many rows are equal in a virtual batch)"
        ) from error


def _batch_size(largest: int, rows: int, virtual: int) -> int:
    """At most the table, as a larger batch trains on nothing; smaller where a part has one row."""
    batch = min(largest, rows)
    while batch > 2 and _has_lone_row(batch, virtual):
        batch -= 1
    return batch


def _has_lone_row(rows: int, virtual: int) -> bool:
    """Whether parts of at most `virtual` rows include one of a single row.

    Batch normalisation fails on a single row.
    """
    if rows == 0:
        return False
    size = math.ceil(rows / math.ceil(rows / virtual))
    return rows % size == 1 or size == 1


@cache
def _log_loss() -> type:
    """Log loss over all classes: the library's fails where the validation rows lack a class."""
    from pytorch_tabnet.metrics import Metric

    class LogLossOfAllClasses(Metric):
        def __init__(self) -> None:
            self._name = "log_loss_of_all_classes"
            self._maximize = False

        def __call__(self, y_true: np.ndarray, y_score: np.ndarray) -> float:
            return negative_log_likelihood(y_true, y_score / y_score.sum(1, keepdims=True))

    return LogLossOfAllClasses


BASELINE = TabNet()
