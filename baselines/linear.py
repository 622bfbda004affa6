"""Ridge and logistic regression of scikit-learn: not in the paper; each row is predicted alone."""

from __future__ import annotations

from baselines.baseline import Predictor
from baselines.estimators import EstimatorBaseline
from baselines.grids import Grid, Parameters, Size
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.table import Task

PENALTIES = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]


class Linear(EstimatorBaseline):
    """Ridge regression, or logistic regression."""

    name = "linear"
    title = "Linear"
    regressor = "sklearn.linear_model.Ridge"
    classifier = "sklearn.linear_model.LogisticRegression"
    libraries = ("scikit-learn",)
    test_settings = {"grid": "quick"}

    def quick_grid(self, task: Task) -> Grid:
        """Six strengths of the penalty on squared weights; logistic regression has its inverse."""
        if task == "regression":
            return {"alpha": PENALTIES}
        return {"C": [1 / penalty for penalty in PENALTIES]}

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        """The same; the paper has no linear model."""
        return [self.quick_grid(task)]

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Fit one model."""
        if not data.is_regression:
            parameters = {"max_iter": 10_000, **parameters}
        return super().fit(data, parameters, seed, resources)


BASELINE = Linear()
