"""LightGBM (paper Table 21), with the library's defaults: at least 20 rows in a leaf, as in the paper.

On Yacht every level of the decisive feature has fewer, so that its one-hot columns are never split and the published error is
that of a constant; `fixed: {min_child_samples: 5}` mends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines import boosting
from baselines.declaration import (
    Baseline,
    Fitted,
    Parameters,
    TrainingData,
    build,
    prediction_function,
    train_labels,
)
from npt.interface import Resources


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Fit the longest ensemble; shorter ones are its first rounds."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    fixed: dict[str, Any] = {
        "n_jobs": resources.threads,
        "deterministic": True,
        "force_row_wise": True,
    }
    fixed |= {"random_state": seed, "verbosity": -1}
    booster = LGBMRegressor if data.is_regression else LGBMClassifier
    ensemble = build(booster, boosting.longest(configurations), **fixed)
    categorical: Any = list(data.categorical) or "auto"
    ensemble.fit(data.features[data.train], train_labels(data), categorical_feature=categorical)

    def first_rounds(features: np.ndarray, wanted: Sequence[Parameters]) -> list[np.ndarray]:
        predict = prediction_function(ensemble, data)
        return [predict(features, num_iteration=one.get("n_estimators", -1)) for one in wanted]

    return first_rounds


BASELINE = Baseline(
    "lightgbm",
    "LightGBM",
    fit,
    boosting.quick,
    boosting.paper,
    shared=boosting.rounds,
    native=True,
    takes_missing=True,
    sources=boosting.SOURCES,
)
