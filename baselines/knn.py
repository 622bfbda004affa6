"""k nearest neighbours of scikit-learn (paper Table 23)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baselines.search import Baseline, Fitted, Grid, Size, TrainingData, fit_estimator
from npt.interface import Infeasible, Resources, Task


def paper(task: Task, size: Size) -> Grid:
    """480 configurations for small tables, 40 for others; search structure and leaf size matter only through ties."""
    if size == "small":
        return {
            "n_neighbors": [2, 5, 7, 10, 20, 30, 40, 50, 75, 100],
            "weights": ["uniform", "distance"],
            "algorithm": ["ball_tree", "kd_tree", "brute"],
            "leaf_size": [10, 30, 50, 100],
            "p": [1, 2],
        }
    medium, large = [2, 5, 7, 10, 25, 50, 100, 250, 500, 1000], [2, 3, 4, 5, 7, 10, 12, 15, 20, 25]
    neighbors = medium if size == "medium" else large
    return {"n_neighbors": neighbors, "weights": ["distance"], "leaf_size": [10, 30, 50, 100], "p": [2]}


def quick(task: Task) -> Grid:
    """20 configurations."""
    return {
        "n_neighbors": [2, 5, 10, 20, 40],
        "weights": ["uniform", "distance"],
        "algorithm": ["brute"],
        "leaf_size": [30],
        "p": [1, 2],
    }


def fit(data: TrainingData, parameters: Mapping[str, Any], seed: int, resources: Resources) -> Fitted:
    """Store the train rows.

    Raises:
        Infeasible: there are fewer train rows than neighbours asked for.
    """
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    wanted = parameters.get("n_neighbors", 5)
    if wanted > len(data.train):
        raise Infeasible(f"n_neighbors {wanted} is more than the {len(data.train)} train rows")
    neighbours = KNeighborsRegressor if data.is_regression else KNeighborsClassifier
    return fit_estimator(neighbours(**parameters, n_jobs=resources.threads), data)


BASELINE = Baseline("knn", "k-NN", fit, quick, paper)
