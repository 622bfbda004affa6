"""The classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from npt.data.frames import class_codes
from npt.estimator.base import TARGET, NPTEstimator
from npt.estimator.frames import read_target
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

    def _read_target(self, y: Any) -> np.ndarray:
        classes = read_target(self, y)
        try:
            check_classification_targets(classes)
        except (TypeError, ValueError) as error:
            is_mixed = len({isinstance(value, str) for value in classes}) > 1
            if isinstance(error, ValueError) and not is_mixed:
                raise
            raise ValueError(
                f"y: classes of numbers alone or of text alone are needed; {error}"
            ) from None
        return classes

    def _learn_target(self, y: np.ndarray) -> Column:
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(
                f"y has the one class {str(classes[0])!r}; a classifier needs two classes"
            )
        self.classes_ = classes
        return Column(TARGET, "categorical", tuple(str(name) for name in classes))

    def _encode_target(self, y: np.ndarray, where: str) -> np.ndarray:
        codes = class_codes(y, self.classes_)
        if (codes < 0).any():
            first = y[(codes < 0).argmax()]
            raise ValueError(f"{where} has the class {str(first)!r}; allowed: those of fit")
        return codes.astype(np.float64)
