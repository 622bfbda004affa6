"""Solved NPTs that are tuned on a part of the labelled rows each (m context rows, n query rows)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from npt.solved.model import SolvedNPT, fit
from npt.solved.tune import ordered

FOLDS = 10


class CrossFitted:
    """Predictions of numbers without the fold of a unit, by models of the other folds.

    A unit is a context row, or a group.

    `SolvedNPT` has methods of the same names in closed form, with what is tuned on all rows.

    Args:
        solved: The model of all rows, at least two units.
    """

    def __init__(self, solved: SolvedNPT) -> None:
        self.context = context = solved.context
        columns = np.arange(context.features.shape[1])
        categorical = np.isin(columns, solved.encoder.categories)
        places = ordered(solved.cells).cpu().numpy()  # whatever the order of the columns
        places = np.random.default_rng(solved.seed).permutation(places)
        units = pd.unique(context.units[places])
        self.folds = np.array_split(units, min(FOLDS, len(units)))
        self.models = []
        for fold in self.folds:
            is_other = ~np.isin(context.units, fold)[context.places]
            others = context.places[is_other]
            model = fit(
                context.features[others],
                context.targets[others, 0],
                categorical,
                weights=context.row_weights[is_other],
                groups=None if context.groups is None else context.groups[others],
                settings=solved.settings,
                device=solved.device,
            )
            self.models.append(model)

    def left_out(self) -> np.ndarray:
        """Predictions (m,) of the context rows, each without the labels of its fold."""
        predictions = np.empty(len(self.context.weights))
        for fold, model in zip(self.folds, self.models, strict=True):
            is_in_fold = np.isin(self.context.units, fold)
            predictions[is_in_fold] = model.predict(self.context.features[is_in_fold])
        return predictions

    def without_each(self, features: np.ndarray) -> np.ndarray:
        """Predicted numbers (n, u) of rows (n, F), each without the fold of one of u units."""
        predictions = np.empty((len(features), self.context.unit_count))
        for fold, model in zip(self.folds, self.models, strict=True):
            predictions[:, fold] = model.predict(features)[:, None]
        return predictions
