"""Ridge regression and logistic regression of scikit-learn: not in the paper, but the plainest model that uses no other row."""

from __future__ import annotations

from collections.abc import Sequence

from baselines.declaration import (
    Baseline,
    Fitted,
    Grid,
    Parameters,
    Size,
    TrainingData,
    build,
    fit_estimator,
    serving_one,
)
from npt.interface import Resources
from npt.table import Task

PENALTIES = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]


def quick(task: Task) -> Grid:
    """Six strengths of the penalty on the squared weights; logistic regression has its inverse."""
    return (
        {"alpha": PENALTIES}
        if task == "regression"
        else {"C": [1 / penalty for penalty in PENALTIES]}
    )


def paper(task: Task, size: Size) -> Grid:
    """The same; the paper has no linear model."""
    return quick(task)


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Fit one model."""
    from sklearn.linear_model import LogisticRegression, Ridge

    (parameters,) = configurations
    if data.is_regression:
        return serving_one(fit_estimator(build(Ridge, parameters), data))
    return serving_one(fit_estimator(build(LogisticRegression, parameters, max_iter=10_000), data))


BASELINE = Baseline("linear", "Linear", fit, quick, paper)
