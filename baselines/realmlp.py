"""RealMLP-TD (Holzmüller et al., NeurIPS 2024) of the package `pytabkit`: a perceptron whose
defaults were tuned on many tables. Each row is predicted alone.

Classifications stop by log loss and have no label smoothing, for the metrics of the tables.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection

from baselines.baseline import Baseline, Predictor
from baselines.estimators import features_vary, prediction_function, prior, single_model
from baselines.fence import fenced
from baselines.grids import Grid, Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.table import Task

TUNABLE = ("lr", "p_drop", "hidden_sizes", "n_epochs", "n_ens", "wd", "batch_size")


class RealMLP(Baseline):
    """RealMLP with tuned defaults."""

    name = "realmlp"
    title = "RealMLP"
    libraries = ("pytabkit", "pytorch-lightning", "torch")
    extra = "modern"
    embeds_categories = True
    takes_categories = True
    slow = True
    accelerated = True
    test_settings = {
        "grid": {"lr": [0.1]},
        "fixed": {"n_epochs": 1, "hidden_sizes": [8]},
    }

    # Eight configurations; the NPT paper is older.
    paper = {"lr": [0.02, 0.04, 0.1, 0.2], "p_drop": [0.0, 0.15]}

    def quick_grid(self, task: Task) -> Grid:
        """The package's learning rate for the task, and half of it."""
        rate = 0.2 if task == "regression" else 0.04
        return {"lr": [rate / 2, rate], "p_drop": [0.15]}

    def known_parameters(self, task: Task) -> Collection[str]:
        """Those of the package that may be changed."""
        return TUNABLE

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Train one network; its weights are those of the best epoch on the validation rows."""
        from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

        if not features_vary(data.train_features):
            return prior(data)
        shared = {
            "device": resources.device,
            "n_threads": resources.threads,
            "random_state": seed,
            "verbosity": 0,
            **parameters,
        }
        if not data.is_regression:
            shared |= {"val_metric_name": "cross_entropy", "use_ls": False}
        kind = RealMLP_TD_Regressor if data.is_regression else RealMLP_TD_Classifier
        with fenced(), tempfile.TemporaryDirectory() as folder:
            model = kind(tmp_folder=folder, **shared)
            model.fit(
                data.train_features,
                data.train_labels,
                *data.early_stopping,
                cat_indicator=data.is_code,
            )
        return single_model(fenced()(prediction_function(model, data)))


BASELINE = RealMLP()
