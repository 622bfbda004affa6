"""Models that predict from stored train rows, and what probes need of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from baselines.grids import Parameters
from npt.probing import Duplicates


@dataclass(frozen=True)
class StoredRows:
    """Rows that a trained model predicts from.

    Attributes:
        features: Features (m, F).
        labels: Standardised targets (m,), or classes 0 .. K-1 of those that were trained on.
        classes: Number of these classes; None for a regression.
    """

    features: np.ndarray
    labels: np.ndarray
    classes: int | None = None

    @property
    def targets(self) -> np.ndarray:
        """What a regression on the rows predicts: one-hot classes (m, K), or targets (m, 1)."""
        if self.classes is None:
            return self.labels[:, None]
        return np.eye(self.classes)[self.labels]

    def take(self, indices: np.ndarray) -> StoredRows:
        """Some of the rows."""
        return replace(self, features=self.features[indices], labels=self.labels[indices])


class RowPredictor(ABC):
    """A trained model that predicts from stored rows, which others can replace.

    Neither method learns: what training has learned stays as it is.
    """

    stored: StoredRows

    def __call__(self, features: np.ndarray, parameters: Parameters) -> np.ndarray:
        """Predictions from the train rows, as of a `Predictor`."""
        return self.predict_from(self.stored, features, parameters)

    def recall(self, duplicates: Duplicates, parameters: Parameters) -> np.ndarray:
        """Standardised values (n,) of the lookup task's originals, from the duplicates alone."""
        stored = StoredRows(duplicates.duplicates, duplicates.shown)
        return self.predict_from(stored, duplicates.originals, parameters)

    @abstractmethod
    def predict_from(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Standardised values (n,) or probabilities (n, K) of features (n, F), from some rows.

        Neither the order of the stored rows, but for ties, nor the other queries change a
        prediction.
        """

    @abstractmethod
    def weights(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """How much each of m stored rows counts for features (n, F): (n, m), may be negative."""
