"""CatBoost (paper Table 20) on one-hot features, as in the paper; `native_categories` passes codes.

CatBoost refuses features that are all constant. There the prior is predicted, as by other
libraries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.baseline import Predictor
from baselines.boosting import Boosting, by_rounds
from baselines.estimators import features_vary, prediction_function, prior
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources

# Defaults that change with the number of rounds: the learning rate. From 200 rounds on, categories
# are combined, and leaves of binary tables with fewer than 20 features are estimated in ten steps
# instead of one.
MANY_ROUNDS = 200
FEW_FEATURES = 20
DEFAULT_ROUNDS = 1000


class CatBoost(Boosting):
    """CatBoost."""

    name = "catboost"
    title = "CatBoost"
    regressor = "catboost.CatBoostRegressor"
    classifier = "catboost.CatBoostClassifier"
    libraries = ("catboost",)
    takes_categories = True
    takes_missing = True
    slow = True
    accelerated = True

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit the longest ensemble, without files; shorter ones are its first rounds."""
        if not features_vary(data.train_features.astype(np.float32)):
            return prior(data)
        from catboost import Pool

        threads = resources.threads
        # They are passed to the pool, as an estimator with categorical features cannot be cloned.
        categorical = list(data.categorical)
        options: dict[str, Any] = {}
        if resources.device != "cpu":  # a GPU's default boosting type depends on the rounds
            index = resources.device.partition(":")[2] or "0"
            options = {"task_type": "GPU", "devices": index, "boosting_type": "Plain"}
        options |= {
            "allow_writing_files": False,
            "verbose": False,
            "thread_count": threads,
            "random_seed": seed,
            **parameters,
        }
        ensemble = self.estimator(data.task)(**options)
        rows = _typed(data.train_features, categorical)
        ensemble.fit(Pool(rows, data.train_labels, cat_features=categorical))
        predict = prediction_function(ensemble, data)

        return by_rounds(
            lambda features, rounds: predict(
                Pool(_typed(features, categorical), cat_features=categorical),
                ntree_end=rounds,
                thread_count=threads,
            )
        )

    def effective_parameters(self, parameters: Parameters, data: TrainingData) -> Parameters:
        """The parameters, and what the number of rounds changes of CatBoost's other defaults."""
        rounds = parameters.get("n_estimators", DEFAULT_ROUNDS)
        if "learning_rate" not in parameters:
            return {**parameters, "rounds": rounds}
        narrow = data.trained_classes == 2 and data.features.shape[1] < FEW_FEATURES
        if not narrow and not data.categorical:
            return parameters
        return {**parameters, "many rounds": rounds >= MANY_ROUNDS}


def _typed(features: np.ndarray, categorical: list[int]) -> Any:
    """Features as CatBoost requires them: categories are integers."""
    if not categorical:
        return features
    import pandas as pd

    return pd.DataFrame(features).astype(dict.fromkeys(categorical, int))


BASELINE = CatBoost()
