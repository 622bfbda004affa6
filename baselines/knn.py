"""k nearest neighbours (paper Table 23): one search for the largest k of a metric serves every k.

scikit-learn finds candidates. They are sorted by exact distance, then by row number, so that ties
have one rule. scikit-learn's own order of ties depends on `algorithm` and `leaf_size`. Neither has
an effect here: the paper's 480 configurations are 40.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from baselines.baseline import Baseline, Predictor
from baselines.grids import Grid, Parameters, Size
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData
from npt.errors import Infeasible, UserError
from npt.interface import Resources
from npt.table import Task

EFFECTIVE = ("n_neighbors", "weights", "p")
WEIGHTS = ("uniform", "distance")
SPARE_CANDIDATES = 64  # beyond the largest k, so that ties at its distance can be sorted
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
    defaults: ClassVar[Parameters] = {
        "n_neighbors": 5,
        "weights": "uniform",
        "p": 2,
        "algorithm": "brute",
        "leaf_size": 30,
    }
    # 20 configurations.
    quick: ClassVar[Grid] = {
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
        """
        largest = _largest_k(configurations)
        available = len(data.train)
        if largest > available:
            raise Infeasible(f"n_neighbors {largest} is more than the {available} train rows")
        p = configurations[0]["p"]
        return Neighbours(data.stored_rows, data.trained_classes, p, resources.threads)

    def check(self, parameters: Parameters) -> None:
        """Neighbours are counted, and p is a norm's order."""
        super().check(parameters)
        parameters = {**self.defaults, **parameters}
        k = parameters["n_neighbors"]
        p = parameters["p"]
        weights = parameters["weights"]
        if type(k) is not int or k < 1:
            raise UserError(f"knn.n_neighbors: {k!r} is not a positive whole number")
        if isinstance(p, bool) or not isinstance(p, int | float) or not 0 < p < math.inf:
            raise UserError(f"knn.p: {p!r} is not a positive number")
        if weights not in WEIGHTS:
            raise UserError(f"knn.weights: {weights!r}; allowed: {', '.join(WEIGHTS)}")

    def shared_parameters(self, parameters: Parameters) -> tuple[str, ...]:
        """Neighbours serve every k and weighting."""
        return ("n_neighbors", "weights")

    def effective_parameters(self, parameters: Parameters, data: TrainingData) -> Parameters:
        """Without the ways of finding neighbours."""
        return {name: parameters[name] for name in EFFECTIVE}


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

    def __call__(
        self, features: np.ndarray, configurations: Sequence[Parameters]
    ) -> list[np.ndarray]:
        """Predictions for each configuration, by one search for the largest k."""
        return self._mean_votes(self.stored, features, configurations)

    def predict_from(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Mean votes (n,) or (n, K) of the nearest among some rows."""
        (predicted,) = self._mean_votes(stored, features, [parameters])
        return predicted if self.classes else predicted[:, 0]

    def weights(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Shares (n, m) of the vote."""
        shares = np.zeros((len(features), len(stored.labels)))
        for rows, distances, neighbours in self.nearest(
            stored, features, parameters["n_neighbors"]
        ):
            votes = _votes(distances, parameters["weights"])
            np.put_along_axis(shares[rows], neighbours, votes, axis=1)
        return shares

    def _mean_votes(
        self, stored: StoredRows, features: np.ndarray, configurations: Sequence[Parameters]
    ) -> list[np.ndarray]:
        """Mean labels (n, V) of the nearest rows for each configuration."""
        labels = stored.targets(self.classes)
        predictions = [np.empty((len(features), labels.shape[1])) for _ in configurations]
        for rows, distances, neighbours in self.nearest(
            stored, features, _largest_k(configurations)
        ):
            for parameters, predicted in zip(configurations, predictions, strict=True):
                k = parameters["n_neighbors"]
                votes = _votes(distances[:, :k], parameters["weights"])
                predicted[rows] = (labels[neighbours[:, :k]] * votes[..., None]).sum(1)
        return predictions

    def nearest(
        self, stored: StoredRows, queries: np.ndarray, k: int
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Distances and indices (n, k) of the stored rows nearest to some queries.

        They are in ascending order. Ties are in that of the rows.
        """
        from sklearn.neighbors import NearestNeighbors

        available = len(stored.labels)
        k = min(k, available)
        order: Any = self.p  # scikit-learn takes any positive number
        index = NearestNeighbors(algorithm="brute", p=order, n_jobs=self.threads)
        count = min(k + SPARE_CANDIDATES, available)
        if queries.size * available <= FEW_CELLS:
            count = available
        if count < available:
            index.fit(stored.features)
        step = max(1, CELLS // max(1, count * queries.shape[1]))
        for start in range(0, len(queries), step):
            rows = slice(start, start + step)
            part = queries[rows]
            if count < available:
                candidates: Any = index.kneighbors(part, count, return_distance=False)
            else:
                candidates = np.tile(np.arange(available), (len(part), 1))
            yield rows, *self._sorted(part, stored.features, candidates, k)

    def _sorted(
        self, queries: np.ndarray, stored: np.ndarray, candidates: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest of the candidates (n, c), and of all rows where a tie may reach further."""
        exact = self._distances(queries, stored[candidates])
        order = np.lexsort((candidates, exact), axis=-1)
        exact = np.take_along_axis(exact, order, -1)
        distances = exact[:, :k]
        neighbours = np.take_along_axis(candidates, order[:, :k], -1)
        if candidates.shape[1] == len(stored):
            return distances, neighbours
        reach = exact[:, k - 1] * (1 + ROUNDING) + ROUNDING
        for query in np.flatnonzero(exact[:, -1] <= reach):
            to_all = self._distances(queries[query][None], stored[None])[0]
            neighbours[query] = np.argsort(to_all, kind="stable")[:k]
            distances[query] = to_all[neighbours[query]]
        return distances, neighbours

    def _distances(self, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Distances (n, c) of queries (n, F) to rows (n, c, F)."""
        return np.linalg.norm(queries[:, None] - rows, self.p, axis=-1)


def _largest_k(configurations: Sequence[Parameters]) -> int:
    return max(parameters["n_neighbors"] for parameters in configurations)


def _votes(distances: np.ndarray, weights: str) -> np.ndarray:
    """Shares (n, k) of neighbours at these distances; those at distance zero have all weight."""
    if weights == "uniform":
        votes = np.ones_like(distances)
    else:
        with np.errstate(divide="ignore"):
            votes = 1 / distances
        same = np.isinf(votes)
        votes = np.where(same.any(1, keepdims=True), same, votes)
    return votes / votes.sum(1, keepdims=True)


BASELINE = KNN()
