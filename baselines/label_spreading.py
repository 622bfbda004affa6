"""Label spreading over near rows (Zhou et al. 2004): not in the paper; reads unlabelled rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from baselines.baseline import Predictor
from baselines.estimators import EstimatorBaseline
from baselines.grids import Parameters
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData
from npt.interface import Resources

CONVERGED = {"kernel": "knn", "n_neighbors": 7, "max_iter": 1000, "tol": 1e-6}


class LabelSpreading(EstimatorBaseline):
    """Label spreading of scikit-learn, among nearest neighbours."""

    name = "label_spreading"
    title = "Label spreading"
    classifier = "sklearn.semi_supervised.LabelSpreading"
    libraries = ("scikit-learn",)
    quick = paper = {"n_neighbors": [3, 7, 15], "alpha": [0.8, 0.99]}
    test_settings = {"grid": {"n_neighbors": [7]}}
    keeps_train_rows = True
    version = 2

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Spread the labels over the train rows."""
        unlabelled = data.features[data.unlabelled]
        return Spreading(data.stored_rows, unlabelled, {**CONVERGED, **parameters})


class Spreading(RowPredictor):
    """The mean distribution of labels of the nearest stored or unlabelled rows.

    Attributes:
        unlabelled: Features (u, F) of the unlabelled rows.
        options: Parameters of scikit-learn's estimator.
    """

    def __init__(self, stored: StoredRows, unlabelled: np.ndarray, options: Parameters) -> None:
        self.stored = stored
        self.unlabelled = unlabelled
        self.options = options
        self._spread = self._fitted(stored, stored.labels)

    def predict_from(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Probabilities (n, K); rows that no label reaches have the shares of the classes."""
        is_own = stored is self.stored
        spread = self._spread if is_own else self._fitted(stored, stored.labels)
        seen, counts = np.unique(stored.labels, return_counts=True)
        probabilities = np.zeros((len(features), stored.classes or 0))
        probabilities[:, seen] = _shares(spread, features, counts)
        return probabilities

    def weights(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Shares (n, m) of each stored row, as if it had a class of its own.

        Memory is a few times (m + u) m numbers.
        """
        rows = np.arange(len(stored.labels))
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # many classes
            spread = self._fitted(stored, rows)
        return _shares(spread, features, np.ones(len(rows)))

    def _fitted(self, stored: StoredRows, classes: np.ndarray) -> Any:
        """The estimator, with classes (m,) of the stored rows."""
        from sklearn.semi_supervised import LabelSpreading as Estimator

        rows = np.concatenate([stored.features, self.unlabelled])
        unknown = np.full(len(self.unlabelled), -1)
        neighbours = min(self.options["n_neighbors"], len(rows))
        estimator = Estimator(**{**self.options, "n_neighbors": neighbours})
        return estimator.fit(rows, np.concatenate([classes, unknown]))


def _shares(estimator: Any, features: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Shares (n, K) of the classes, which have these counts (K,) where no label reaches."""
    with np.errstate(invalid="ignore"):
        shares = estimator.predict_proba(features)
    return np.where(np.isnan(shares), counts / counts.sum(), shares)


BASELINE = LabelSpreading()
