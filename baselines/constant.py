"""A constant: the mean of the train targets, or the shares of their classes; not in the paper."""

from __future__ import annotations

from typing import ClassVar

from baselines.baseline import Baseline, Predictor
from baselines.estimators import prior
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.interface import Resources


class Constant(Baseline):
    """Predicts without features; it has no parameters."""

    name = "constant"
    title = "Constant"
    libraries = ("numpy",)
    test_settings: ClassVar[Parameters] = {"grid": "quick"}

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Average the train targets."""
        return prior(data)


BASELINE = Constant()
