"""Solved NPTs that are tuned on a part of the labelled rows each (m context rows, n query rows)."""

from __future__ import annotations

import numpy as np

from npt.solved.model import SolvedNPT, fit
from npt.solved.tune import ordered

FOLDS = 10


class CrossFitted:
    """Predictions of numbers without the fold of a context row, by models of the other folds.

    `SolvedNPT` has methods of the same names in closed form, with what is tuned on all rows.

    Args:
        solved: The model of all rows, at least two.
    """

    def __init__(self, solved: SolvedNPT) -> None:
        self.context = context = solved.context
        rows, columns = context.features.shape
        categorical = np.isin(np.arange(columns), solved.encoder.categories)
        places = ordered(solved.cells).cpu().numpy()  # whatever the order of the columns
        places = np.random.default_rng(solved.seed).permutation(places)
        self.folds = np.array_split(places, min(FOLDS, rows))
        self.models = []
        for fold in self.folds:
            is_other = ~np.isin(context.groups, fold)
            others = context.groups[is_other]
            model = fit(
                context.features[others],
                context.targets[others, 0],
                categorical,
                weights=context.row_weights[is_other],
                settings=solved.settings,
                device=solved.device,
            )
            self.models.append(model)

    def left_out(self) -> np.ndarray:
        """Predictions (m,) of the context rows, each without the labels of its fold."""
        predictions = np.empty(len(self.context.weights))
        for fold, model in zip(self.folds, self.models, strict=True):
            predictions[fold] = model.predict(self.context.features[fold])
        return predictions

    def without_each(self, features: np.ndarray) -> np.ndarray:
        """Predicted numbers (n, m) of rows (n, F), each without the fold of one context row."""
        predictions = np.empty((len(features), len(self.context.weights)))
        for fold, model in zip(self.folds, self.models, strict=True):
            predictions[:, fold] = model.predict(features)[:, None]
        return predictions
