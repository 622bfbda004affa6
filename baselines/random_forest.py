"""Random forest of scikit-learn (paper Table 17).

`max_features: auto` of 2021 is `sqrt` for classification and all features for regression.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.baseline import Predictor
from baselines.boosting import Ensemble, by_rounds
from baselines.estimators import prediction_function
from baselines.grids import Grid, Parameters, Size
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.table import Task


class RandomForest(Ensemble):
    """Random forest of scikit-learn."""

    name = "random_forest"
    title = "Random Forest"
    regressor = "sklearn.ensemble.RandomForestRegressor"
    classifier = "sklearn.ensemble.RandomForestClassifier"
    libraries = ("scikit-learn",)
    independent = {
        "criterion",
        "max_features",
        "n_estimators",
        "max_depth",
        "min_samples_leaf",
        "min_samples_split",
    }

    def quick_grid(self, task: Task) -> Grid:
        """Without absolute error, which is slow."""
        if task == "regression":
            return {
                "criterion": ["squared_error"],
                "n_estimators": [100],
                "max_features": [1.0, "sqrt"],
            }
        return {
            "criterion": ["gini", "entropy"],
            "n_estimators": [100],
            "max_features": ["sqrt"],
        }

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        """24 configurations."""
        counts = [50, 100, 500, 1000]
        if task == "regression":
            grid = {
                "criterion": ["absolute_error", "squared_error"],
                "n_estimators": counts,
                "max_features": [1.0, "sqrt", "log2"],
            }
            return [grid]
        grid = {
            "criterion": ["gini", "entropy"],
            "n_estimators": counts,
            "max_features": ["sqrt", "sqrt", "log2"],
        }
        return [grid]

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit the largest forest; smaller ones are its first trees.

        Trees are summed in order, so that predictions do not depend on the number of threads.
        """
        from joblib import Parallel, delayed

        options = {"random_state": seed, "n_jobs": resources.threads, **parameters}
        forest = self.estimator(data.task)(**options)
        forest.fit(data.train_features, data.train_labels)
        votes = [prediction_function(tree, data) for tree in forest.estimators_]

        def first_trees(features: np.ndarray, trees: int) -> np.ndarray:
            features = features.astype(np.float32)
            parallel = Parallel(resources.threads, prefer="threads", return_as="generator")
            first = votes[: trees or None]
            results: Any = parallel(delayed(vote)(features, check_input=False) for vote in first)
            total: Any = sum(results)
            return total / len(first)

        return by_rounds(first_trees)


BASELINE = RandomForest()
