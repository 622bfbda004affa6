"""XGBoost (paper Table 19)."""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.baseline import Predictor
from baselines.boosting import Boosting, by_rounds
from baselines.estimators import fit_estimator
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.errors import UserError
from npt.interface import Resources


class XGBoost(Boosting):
    """XGBoost."""

    name = "xgboost"
    title = "XGBoost"
    regressor = "xgboost.XGBRegressor"
    classifier = "xgboost.XGBClassifier"
    libraries = ("xgboost", "xgboost-cpu")
    takes_categories = True
    takes_missing = True
    accelerated = True

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit the longest ensemble; shorter ones are its first rounds.

        Raises:
            UserError: A GPU is requested, which the installed build would ignore with a warning.
        """
        from xgboost import build_info

        if resources.device != "cpu" and not build_info()["USE_CUDA"]:
            raise UserError(
                f"device: {resources.device} is not available to xgboost-cpu; "
                "install xgboost instead"
            )
        options: dict[str, Any] = {
            "n_jobs": resources.threads,
            "device": resources.device,
            "random_state": seed,
            **parameters,
        }
        if data.categorical:
            types = np.where(data.is_code, "c", "q")
            options |= {"enable_categorical": True, "feature_types": types.tolist()}
        predict = fit_estimator(self.estimator(data.task)(**options), data)

        return by_rounds(lambda features, rounds: predict(features, iteration_range=(0, rounds)))


BASELINE = XGBoost()
