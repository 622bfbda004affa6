"""Label spreading over near rows (Zhou et al. 2004): not in the paper; reads unlabelled rows."""

from __future__ import annotations

import numpy as np

from baselines.baseline import Predictor
from baselines.estimators import EstimatorBaseline, fit_with_unlabelled
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources


class LabelSpreading(EstimatorBaseline):
    """Label spreading of scikit-learn, among nearest neighbours."""

    name = "label_spreading"
    title = "Label spreading"
    classifier = "sklearn.semi_supervised.LabelSpreading"
    libraries = ("scikit-learn",)
    quick = paper = {"n_neighbors": [3, 7, 15], "alpha": [0.8, 0.99]}
    test_settings = {"grid": {"n_neighbors": [7]}}

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit one model; rows that no label reaches have the shares of the classes."""
        neighbours = min(parameters.get("n_neighbors", 7), len(data.train) + len(data.unlabelled))
        converged = {"kernel": "knn", "max_iter": 1000, "tol": 1e-6}
        options = {**converged, **parameters, "n_neighbors": neighbours}
        estimator = self.estimator(data.task)(**options)
        predict = fit_with_unlabelled(estimator, data)
        shares = np.bincount(data.train_labels) / len(data.train)

        def probabilities(features: np.ndarray, parameters: Parameters) -> np.ndarray:
            with np.errstate(invalid="ignore"):
                spread = predict(features, parameters)
            return np.where(np.isnan(spread), shares, spread)

        return probabilities


BASELINE = LabelSpreading()
