"""A made-up baseline whose predictions, failures and shared fits a test chooses."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from baselines.baseline import Baseline, Predictor
from baselines.grids import BaselineSettings, Grid, Parameters, Size
from baselines.training_data import TrainingData
from baselines.tuned import TunedBaseline
from npt.interface import Fit, Resources
from npt.table import Task
from tests.conftest import first_split, make_table

Outcome = float | BaseException


class Toy(Baseline):
    """The i-th configuration predicts `outcomes[i]` everywhere, or raises it.

    Attributes:
        fitted: For each fit, its configuration.
        seeds: For each fit, its seed.
        predicted: For each prediction, the features of its rows.
    """

    name = "toy"
    title = "Toy"
    libraries = ()

    def __init__(self, outcomes: Sequence[Outcome], one_fit_serves_all: bool = False) -> None:
        self.outcomes = outcomes
        self.one_fit_serves_all = one_fit_serves_all
        self.fitted: list[int] = []
        self.seeds: list[int] = []
        self.predicted: list[np.ndarray] = []

    def quick_grid(self, task: Task) -> Grid:
        return {"i": list(range(len(self.outcomes)))}

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        return [self.quick_grid(task)]

    def known_parameters(self, task: Task) -> Collection[str]:
        return ("i",)

    def shared_parameters(self, parameters: Parameters) -> tuple[str, ...]:
        return ("i",) if self.one_fit_serves_all else ()

    def fit(
        self, data: TrainingData, parameters: Parameters, seed: int, resources: Resources
    ) -> Predictor:
        self.fitted.append(parameters["i"])
        self.seeds.append(seed)
        return self.predict

    def predict(self, features: np.ndarray, parameters: Parameters) -> np.ndarray:
        self.predicted.append(features)
        outcome = self.outcomes[parameters["i"]]
        if isinstance(outcome, BaseException):
            raise outcome
        return np.full(len(features), outcome)


def tuned(
    baseline: Baseline,
    settings: BaselineSettings | None = None,
    seed: int = 0,
    checkpoint: Path | None = None,
) -> Fit:
    """Tune a baseline on a small regression table."""
    table = make_table("regression")
    resources = Resources(checkpoint=checkpoint, checkpoint_minutes=0)
    learner = TunedBaseline(baseline, settings or BaselineSettings(), resources)
    return learner.fit(table, first_split(table), seed)
