"""Ridge and logistic regression of scikit-learn: not in the paper; each row is predicted alone."""

from __future__ import annotations

from baselines.estimators import EstimatorBaseline
from baselines.grids import Grid, Size
from npt.table import Task

PENALTIES = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]


class Linear(EstimatorBaseline):
    """Ridge regression, or logistic regression."""

    name = "linear"
    title = "Linear"
    regressor = "sklearn.linear_model.Ridge"
    classifier = "sklearn.linear_model.LogisticRegression"
    libraries = ("scikit-learn",)
    defaults = {"max_iter": 10_000}  # of logistic regression; ridge regression is solved directly
    test_settings = {"grid": "quick"}

    def quick_grid(self, task: Task) -> Grid:
        """Six strengths of the penalty on squared weights; logistic regression has its inverse."""
        if task == "regression":
            return {"alpha": PENALTIES}
        return {"C": [1 / penalty for penalty in PENALTIES]}

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        """The same; the paper has no linear model."""
        return [self.quick_grid(task)]


BASELINE = Linear()
