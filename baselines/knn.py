"""k nearest neighbours (paper Table 23): one search for the largest k of a metric serves every k.

scikit-learn finds candidates. They are sorted by exact distance, then by row number, so that ties
have one rule. scikit-learn's own order of ties depends on `algorithm` and `leaf_size`. Neither has
an effect here: the paper's 480 configurations are 40.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

import numpy as np

from baselines.baseline import Baseline, Predictor
from baselines.estimators import require_known
from baselines.grids import Grid, Parameters, Size
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData
from npt.errors import Infeasible, UserError
from npt.interface import Resources
from npt.table import Task

DEFAULTS = {
    "n_neighbors": 5,
    "weights": "uniform",
    "p": 2,
    "algorithm": "brute",
    "leaf_size": 30,
}
EFFECTIVE = ("n_neighbors", "weights", "p")
WEIGHTS = ("uniform", "distance")
SPARE_CANDIDATES = 64  # beyond the largest k, so that ties at its distance can be sorted
QUERY_ROWS = 1024  # predicted together
CELLS = 4_000_000  # numbers that a comparison of query rows with candidates holds in memory
FEW_CELLS = 100_000  # comparisons of query and stored features that need no index
ROUNDING = 1e-6  # margin within which rounding may have hidden a nearer row from the candidates


class KNN(Baseline):
    """k nearest neighbours."""

    name = "knn"
    title = "k-NN"
    libraries = ("scikit-learn",)
    test_settings: ClassVar[Parameters] = {"grid": {"n_neighbors": [2, 5]}}
    keeps_train_rows = True
    rows_alone = True

    def quick_grid(self, task: Task) -> Grid:
        """20 configurations."""
        return {
            "n_neighbors": [2, 5, 10, 20, 40],
            "weights": ["uniform", "distance"],
            "algorithm": ["brute"],
            "leaf_size": [30],
            "p": [1, 2],
        }

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        """480 configurations for small tables, 40 for others."""
        leaf_sizes = [10, 30, 50, 100]
        if size == "small":
            grid = {
                "n_neighbors": [2, 5, 7, 10, 20, 30, 40, 50, 75, 100],
                "weights": ["uniform", "distance"],
                "algorithm": ["ball_tree", "kd_tree", "brute"],
                "leaf_size": leaf_sizes,
                "p": [1, 2],
            }
            return [grid]
        medium = [2, 5, 7, 10, 25, 50, 100, 250, 500, 1000]
        large = [2, 3, 4, 5, 7, 10, 12, 15, 20, 25]
        grid = {
            "n_neighbors": medium if size == "medium" else large,
            "weights": ["distance"],
            "leaf_size": leaf_sizes,
            "p": [2],
        }
        return [grid]

    def fit(
        self,
        data: TrainingData,
        configurations: Sequence[Parameters],
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Keep the train rows; the configurations have one `p`.

        Raises:
            Infeasible: There are fewer train rows than neighbours.
            UserError: A parameter is unknown or has a value that is not allowed.
        """
        for parameters in configurations:
            _check(parameters)
        largest = _largest_k(configurations)
        available = len(data.train)
        if largest > available:
            raise Infeasible(f"n_neighbors {largest} is more than the {available} train rows")
        p = _value(configurations[0], "p")
        return Neighbours(data.stored_rows, data.trained_classes, p, resources.threads)

    def known_parameters(self, task: Task) -> Collection[str]:
        """Those with a default."""
        return DEFAULTS

    def check(self, parameters: Parameters) -> None:
        """Neighbours are counted, and p is a norm's order."""
        super().check(parameters)
        _check(parameters)

    def shared_parameters(self, parameters: Parameters) -> tuple[str, ...]:
        """Neighbours serve every k and weighting."""
        return ("n_neighbors", "weights")

    def effective_parameters(self, parameters: Parameters, data: TrainingData) -> Parameters:
        """Without the ways of finding neighbours, and with defaults."""
        return {name: _value(parameters, name) for name in EFFECTIVE}


class Neighbours(RowPredictor):
    """The mean vote of the nearest stored rows; all of them if there are fewer than k.

    Attributes:
        classes: Number of classes; None for a regression.
        p: Order of the norm.
    """

    def __init__(self, stored: StoredRows, classes: int | None, p: float, threads: int) -> None:
        self.stored = stored
        self.classes = classes
        self.p = p
        self.threads = threads
        self._search = NeighbourSearch(stored.features, p, threads)

    def __call__(
        self, features: np.ndarray, configurations: Sequence[Parameters]
    ) -> list[np.ndarray]:
        """Predictions for each configuration, by one search for the largest k."""
        return self._predicted(self._search, self.stored, features, configurations)

    def predict_from(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Mean votes (n,) or (n, K) of the nearest among some rows."""
        search = NeighbourSearch(stored.features, self.p, self.threads)
        (predicted,) = self._predicted(search, stored, features, [parameters])
        return predicted if self.classes else predicted[:, 0]

    def weights(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Shares (n, m) of the vote."""
        k = min(_value(parameters, "n_neighbors"), len(stored.labels))
        search = NeighbourSearch(stored.features, self.p, self.threads)
        distances, neighbours = search.nearest(features, k)
        shares = np.zeros((len(features), len(stored.labels)))
        votes = _votes_of_neighbours(distances, parameters)
        np.put_along_axis(shares, neighbours, votes / votes.sum(1, keepdims=True), axis=1)
        return shares

    def _predicted(
        self,
        search: NeighbourSearch,
        stored: StoredRows,
        features: np.ndarray,
        configurations: Sequence[Parameters],
    ) -> list[np.ndarray]:
        labels = stored.targets(self.classes)
        k = min(_largest_k(configurations), len(labels))
        predictions = [np.empty((len(features), labels.shape[1])) for _ in configurations]
        for start in range(0, len(features), QUERY_ROWS):
            rows = slice(start, start + QUERY_ROWS)
            distances, neighbours = search.nearest(features[rows], k)
            for parameters, predicted in zip(configurations, predictions, strict=True):
                predicted[rows] = _mean_vote(labels, neighbours, distances, parameters)
        return predictions


class NeighbourSearch:
    """The nearest rows (n, F) by the p-norm, nearest first, ties by row number."""

    def __init__(self, rows: np.ndarray, p: float, threads: int) -> None:
        from sklearn.neighbors import NearestNeighbors

        self.rows = rows
        self.p = p
        order: Any = p  # scikit-learn takes any positive number
        self.index = NearestNeighbors(algorithm="brute", p=order, n_jobs=threads)
        self.is_indexed = False

    def nearest(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances and row numbers (m, k) of the k nearest rows to each query (m, F)."""
        candidates = self._candidates(queries, k)
        count = candidates.shape[1]
        distances = np.empty((len(queries), k))
        neighbours = np.empty((len(queries), k), np.int64)
        step = max(1, CELLS // (count * queries.shape[1]))
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            near, numbers = self._among_candidates(queries[part], candidates[part], k)
            distances[part] = near
            neighbours[part] = numbers
        return distances, neighbours

    def _candidates(self, queries: np.ndarray, k: int) -> np.ndarray:
        """Row numbers (m, c) that have the k nearest rows; all rows, if there are few."""
        if queries.size * len(self.rows) <= FEW_CELLS:
            return np.tile(np.arange(len(self.rows)), (len(queries), 1))
        if not self.is_indexed:
            self.index.fit(self.rows)
            self.is_indexed = True
        count = min(k + SPARE_CANDIDATES, len(self.rows))
        candidates: Any = self.index.kneighbors(queries, count, return_distance=False)
        return candidates

    def _among_candidates(
        self, queries: np.ndarray, candidates: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest of the candidates (m, c), and of all rows where a tie may reach further."""
        exact = self._distances(queries, self.rows[candidates])
        order = np.lexsort((candidates, exact), axis=-1)
        exact = np.take_along_axis(exact, order, -1)
        distances = exact[:, :k]
        neighbours = np.take_along_axis(candidates, order[:, :k], -1)
        if candidates.shape[1] == len(self.rows):
            return distances, neighbours
        reach = exact[:, k - 1] * (1 + ROUNDING) + ROUNDING
        for query in np.flatnonzero(exact[:, -1] <= reach):
            to_all = self._distances(queries[query][None], self.rows[None])[0]
            neighbours[query] = np.argsort(to_all, kind="stable")[:k]
            distances[query] = to_all[neighbours[query]]
        return distances, neighbours

    def _distances(self, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Distances (m, c) of queries (m, F) to rows (m, c, F)."""
        differences = np.abs(queries[:, None] - rows)
        if self.p == 1:
            return differences.sum(-1)
        if self.p == 2:
            return np.sqrt((differences**2).sum(-1))
        return (differences**self.p).sum(-1) ** (1 / self.p)


def _mean_vote(
    labels: np.ndarray, neighbours: np.ndarray, distances: np.ndarray, parameters: Parameters
) -> np.ndarray:
    """Mean label (n, V) of the first k neighbours, uniform or weighted by inverse distance."""
    k = _value(parameters, "n_neighbors")
    nearest = labels[neighbours[:, :k]]
    if _value(parameters, "weights") == "uniform":
        return nearest.mean(1)
    votes = _votes_of_neighbours(distances[:, :k], parameters)
    return (nearest * votes[..., None]).sum(1) / votes.sum(1, keepdims=True)


def _votes_of_neighbours(distances: np.ndarray, parameters: Parameters) -> np.ndarray:
    """Votes (n, k) of neighbours at these distances; those at distance zero have all weight."""
    if _value(parameters, "weights") == "uniform":
        return np.ones_like(distances)
    with np.errstate(divide="ignore"):
        votes = 1 / distances
    same = np.isinf(votes)
    return np.where(same.any(1, keepdims=True), same, votes)


def _largest_k(configurations: Sequence[Parameters]) -> int:
    return max(_value(parameters, "n_neighbors") for parameters in configurations)


def _value(parameters: Parameters, name: str) -> Any:
    return parameters.get(name, DEFAULTS[name])


def _check(parameters: Parameters) -> None:
    require_known(parameters, list(DEFAULTS), "k-NN")
    k = _value(parameters, "n_neighbors")
    p = _value(parameters, "p")
    weights = _value(parameters, "weights")
    if type(k) is not int or k < 1:
        raise UserError(f"knn.n_neighbors: {k!r} is not a positive whole number")
    if isinstance(p, bool) or not isinstance(p, int | float) or not 0 < p < math.inf:
        raise UserError(f"knn.p: {p!r} is not a positive number")
    if weights not in WEIGHTS:
        raise UserError(f"knn.weights: {weights!r}; allowed: {', '.join(WEIGHTS)}")


BASELINE = KNN()
