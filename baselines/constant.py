"""A constant: the mean of the train targets, or the shares of their classes; not in the paper."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from baselines.baseline import Baseline, Predictor
from baselines.estimators import prior, require_known
from baselines.grids import Grid, Parameters, Size
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.table import Task


class Constant(Baseline):
    """Predicts without features."""

    name = "constant"
    title = "Constant"
    libraries = ("numpy",)
    test_settings: ClassVar[Parameters] = {"grid": "quick"}

    def quick_grid(self, task: Task) -> Grid:
        """One configuration."""
        return {}

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        """The same."""
        return [self.quick_grid(task)]

    def known_parameters(self, task: Task) -> Collection[str]:
        """None."""
        return ()

    def fit(
        self,
        data: TrainingData,
        configurations: Sequence[Parameters],
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Average the train targets.

        Raises:
            UserError: A parameter is given.
        """
        (parameters,) = configurations
        require_known(parameters, [], self.title)
        return prior(data)


BASELINE = Constant()
