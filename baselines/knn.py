"""k nearest neighbours (paper Table 23): found once for the largest k of each metric, they serve every k and weighting.

Neighbours are found by scikit-learn and put in order by their exact distance, then by row number, so that rows at equal
distance have one rule. scikit-learn's own order of such rows depends on `algorithm` and `leaf_size`, which change nothing here:
the paper's 480 configurations are 40.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.declaration import (
    Baseline,
    Fitted,
    Grid,
    Parameters,
    Size,
    TrainingData,
    require_known,
    train_labels,
)
from npt.interface import Infeasible, Resources, UserError
from npt.table import Task

DEFAULT = {"n_neighbors": 5, "weights": "uniform", "p": 2, "algorithm": "brute", "leaf_size": 30}
SPARE = 64  # candidates beyond the largest k, among which those at equal distance are put in order
ROWS, CELLS = (
    1024,
    4_000_000,
)  # rows that are looked up together, and numbers that a comparison of them holds in memory
NEAR = 1e-6  # how much farther a candidate must be so that rounding cannot have hidden a nearer row


def paper(task: Task, size: Size) -> Grid:
    """480 configurations for small tables, 40 for others; search structure and leaf size change nothing."""
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
    return {
        "n_neighbors": neighbors,
        "weights": ["distance"],
        "leaf_size": [10, 30, 50, 100],
        "p": [2],
    }


def quick(task: Task) -> Grid:
    """20 configurations."""
    return {
        "n_neighbors": [2, 5, 10, 20, 40],
        "weights": ["uniform", "distance"],
        "algorithm": ["brute"],
        "leaf_size": [30],
        "p": [1, 2],
    }


def fit(
    data: TrainingData, configurations: Sequence[Parameters], seed: int, resources: Resources
) -> Fitted:
    """Store the train rows; every configuration has the same `p`.

    Raises:
        Infeasible: there are fewer train rows than neighbours asked for.
        UserError: a parameter is unknown or has a value that is not allowed.
    """
    for one in configurations:
        _check(one)
    most = max(_value(one, "n_neighbors") for one in configurations)
    if most > len(data.train):
        raise Infeasible(f"n_neighbors {most} is more than the {len(data.train)} train rows")
    p = _value(configurations[0], "p")
    labels = train_labels(data)
    search = NeighbourSearch(data.features[data.train], p, resources.threads)
    votes = labels[:, None] if data.is_regression else np.eye(int(labels.max()) + 1)[labels]

    def predict(features: np.ndarray, wanted: Sequence[Parameters]) -> list[np.ndarray]:
        most = max(_value(one, "n_neighbors") for one in wanted)
        found = [np.empty((len(features), votes.shape[1])) for _ in wanted]
        for start in range(0, len(features), ROWS):
            rows = slice(start, start + ROWS)
            distances, nearest = search.nearest(features[rows], most)
            for one, values in zip(wanted, found, strict=True):
                k = _value(one, "n_neighbors")
                values[rows] = _vote(
                    votes, nearest[:, :k], distances[:, :k], _value(one, "weights")
                )
        return found

    return predict


def stored(data: TrainingData, parameters: Parameters, resources: Resources) -> Fitted:
    """The same neighbourhood among other train rows; where fewer than k are left, they are all in it."""
    fewer = {**parameters, "n_neighbors": min(_value(parameters, "n_neighbors"), len(data.train))}
    predict = fit(data, [fewer], 0, resources)
    return lambda features, configurations: predict(features, [fewer])


def _check(parameters: Parameters) -> None:
    require_known(parameters, list(DEFAULT), "k-NN")
    k, p, weights = (_value(parameters, name) for name in ("n_neighbors", "p", "weights"))
    if not isinstance(k, int) or k < 1:
        raise UserError(f"knn: n_neighbors {k!r} is not a positive number")
    if not isinstance(p, int | float) or not 0 < p < math.inf:
        raise UserError(f"knn: p {p!r} is not a positive number")
    if weights not in ("uniform", "distance"):
        raise UserError(f"knn: weights {weights!r}; allowed: uniform, distance")


class NeighbourSearch:
    """The nearest of some rows (n, F) by the p-norm, nearest first, the lower row number first at equal distance."""

    def __init__(self, rows: np.ndarray, p: int, threads: int) -> None:
        from sklearn.neighbors import NearestNeighbors

        self.rows, self.p = rows, p
        self.index = NearestNeighbors(algorithm="brute", p=p, n_jobs=threads).fit(rows)

    def nearest(self, wanted: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances and row numbers (m, k) of the k nearest to each of `wanted` (m, F)."""
        count = min(k + SPARE, len(self.rows))
        candidates = self.index.kneighbors(wanted, count, return_distance=False)
        distances, order = np.empty((len(wanted), k)), np.empty((len(wanted), k), np.int64)
        for start in range(0, len(wanted), step := max(1, CELLS // (count * wanted.shape[1]))):
            part = slice(start, start + step)
            exact = self._distances(wanted[part], self.rows[candidates[part]])
            sorting = np.lexsort((candidates[part], exact), axis=-1)
            exact = np.take_along_axis(exact, sorting, -1)
            distances[part] = exact[:, :k]
            order[part] = np.take_along_axis(candidates[part], sorting[:, :k], -1)
            if count < len(self.rows):
                for row in np.flatnonzero(exact[:, -1] <= exact[:, k - 1] * (1 + NEAR) + NEAR):
                    whole = self._distances(wanted[start + row][None], self.rows[None])[0]
                    order[start + row] = np.argsort(whole, kind="stable")[:k]
                    distances[start + row] = whole[order[start + row]]
        return distances, order

    def _distances(self, wanted: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Distances (m, c) of `wanted` (m, F) to `rows` (m, c, F)."""
        differences = np.abs(wanted[:, None] - rows)
        if self.p == 1:
            return differences.sum(-1)
        return (
            np.sqrt((differences**2).sum(-1))
            if self.p == 2
            else (differences**self.p).sum(-1) ** (1 / self.p)
        )


def _vote(
    votes: np.ndarray, nearest: np.ndarray, distances: np.ndarray, weights: str
) -> np.ndarray:
    """Mean of the neighbours' votes (m, V), by inverse distance if asked; rows at distance zero then have all weight."""
    if weights == "uniform":
        return votes[nearest].mean(1)
    with np.errstate(divide="ignore"):
        inverse = 1 / distances
    same = np.isinf(inverse)
    inverse = np.where(same.any(1, keepdims=True), same, inverse)
    return (votes[nearest] * inverse[..., None]).sum(1) / inverse.sum(1, keepdims=True)


def _value(parameters: Parameters, name: str) -> Any:
    return parameters.get(name, DEFAULT[name])


def shared(parameters: Parameters) -> tuple[str, ...]:
    """Neighbours serve every k and weighting."""
    return ("n_neighbors", "weights")


def model(parameters: Parameters, data: TrainingData) -> Parameters:
    """Without the ways of finding neighbours, and with what is not given at its default."""
    return {name: _value(parameters, name) for name in ("n_neighbors", "weights", "p")}


BASELINE = Baseline("knn", "k-NN", fit, quick, paper, shared=shared, model=model, stored=stored)
