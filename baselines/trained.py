"""Trained baselines, as evaluators and probes use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from baselines.baseline import Baseline, Predictor
from baselines.grids import Parameters
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData
from npt.data.encoding import Statistics
from npt.interface import Prediction, Resources
from npt.table import Task


@dataclass(frozen=True)
class TrainedBaseline:
    """The winner of a search, with the data that it was fitted to.

    Attributes:
        parameters: Hyper-parameters of the winner, the fixed ones included.
        transductive: Whether features are standardised over all rows, or the train rows.
        seed: Random state of the fit.
    """

    baseline: Baseline
    data: TrainingData
    statistics: Statistics
    target: int
    parameters: Parameters
    model: Predictor
    resources: Resources
    transductive: bool
    seed: int

    @property
    def device(self) -> str:
        """Device of the model."""
        return self.resources.device

    @property
    def task(self) -> Task:
        """Task of the target column."""
        return self.data.task

    def predict(self, rows: np.ndarray) -> Prediction:
        """Probabilities of all classes (n, C), or values (n,) in original units."""
        with threadpool_limits(self.resources.threads):
            predicted = self.model(self.data.features[rows], self.parameters)
        return self.decode(predicted)

    def decode(self, predicted: np.ndarray) -> Prediction:
        """What a predictor returns, as probabilities of all classes or in original units."""
        values = self.data.over_all_classes(predicted)
        if self.data.is_regression:
            values = self.statistics.original(values, self.target)
        return Prediction(values)

    @property
    def predictor(self) -> RowPredictor:
        """The trained model, if it predicts from stored train rows, which others can replace."""
        assert isinstance(self.model, RowPredictor), "fit returned no RowPredictor"
        return self.model

    def predict_from(self, stored: StoredRows, features: np.ndarray) -> np.ndarray:
        """Values (n,) in original units or probabilities (n, C), from some stored rows.

        Threads are those of the process: to limit them takes longer than a prediction.
        """
        predicted = self.predictor.predict_from(stored, features, self.parameters)
        return self.decode(predicted).values
