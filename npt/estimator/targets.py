"""The y of scikit-learn: classes as codes, or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from npt.data.frames import require_moderate
from npt.estimator.arguments import value_errors


def read_classes(estimator: BaseEstimator, y: Any) -> np.ndarray:
    """Class labels (n,).

    Raises:
        ValueError: y is continuous or complex, or has missing values, bytes or several types.
    """
    classes = _known_values(estimator, y)
    try:
        check_classification_targets(classes)
    except TypeError as error:
        raise ValueError(
            f"y: classes of numbers alone or of text alone are needed; {error}"
        ) from None
    return classes


def read_numbers(estimator: BaseEstimator, y: Any) -> np.ndarray:
    """Numbers (n,) float64.

    Raises:
        ValueError: y has values that are no finite numbers.
    """
    values = _known_values(estimator, y)
    if values.dtype.kind in "mM":
        raise ValueError("y has dates or durations; numbers are needed")
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("y has values that are not numbers") from None
    with value_errors():
        require_moderate(numbers, "y")
    return numbers


def classes_of(y: np.ndarray) -> np.ndarray:
    """The different classes, in ascending order.

    Raises:
        ValueError: There are fewer than two.
    """
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"y has the one class {classes[0]!r}; a classifier needs two classes")
    return classes


def codes_of(y: np.ndarray, classes: np.ndarray, where: str) -> np.ndarray:
    """Indices (n,) of classes.

    Raises:
        ValueError: A class is not among them.
    """
    codes = pd.Index(classes).get_indexer(pd.Index(y))
    if (codes < 0).any():
        first = y[(codes < 0).argmax()]
        raise ValueError(f"{where} has the class {first!r}; y has none of it")
    return codes


def _known_values(estimator: BaseEstimator, y: Any) -> np.ndarray:
    if y is None:
        name = type(estimator).__name__
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None."
        )
    values = y if issparse(y) else np.asarray(y)  # scikit-learn refuses the first
    if np.ma.is_masked(y) or (values.dtype == object and pd.isna(values).any()):
        raise ValueError("Input y contains NaN or another missing value.")
    any_type: Any = None  # which scikit-learn annotates as text
    values = check_array(
        values, dtype=any_type, ensure_2d=False, input_name="y", estimator=estimator
    )
    return column_or_1d(values, warn=True)
