"""The classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from npt.estimator.base import TARGET, NPTEstimator
from npt.estimator.explanation import Attention, Explanation
from npt.estimator.job import Model
from npt.estimator.targets import classes_of, codes_of, read_classes
from npt.table import Column


class NPTClassifier(ClassifierMixin, NPTEstimator):
    """A Non-Parametric Transformer that predicts classes."""

    _task = "classifier"

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (n, classes) of new rows X (n, d), in the order of `classes_`."""
        return self._predict(X)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class (n,) of each new row of X (n, d)."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(1)]

    def _explanation(self, model: Model, attention: Attention) -> Explanation:
        codes = attention.predictions.argmax(-1)
        in_context = model.targets.astype(np.int64)
        return Explanation.of(
            attention.of_classes(codes),
            context=self.rows_[model.rows],
            targets=self.classes_[in_context],
            predictions=self.classes_[codes],
        )

    def _read_target(self, y: Any) -> np.ndarray:
        return read_classes(self, y)

    def _learn_target(self, y: np.ndarray) -> Column:
        self.classes_ = classes_of(y)
        return Column(TARGET, "categorical", tuple(str(name) for name in self.classes_))

    def _encode_target(self, y: np.ndarray, where: str) -> np.ndarray:
        return codes_of(y, self.classes_, where).astype(np.float64)
