"""k nearest neighbours (paper Table 23): one search for the largest k of a metric serves every k.

All distances are exact. They are sorted, then by row number, so that ties have one rule.
scikit-learn's order of ties depends on `algorithm` and `leaf_size`. Neither has an effect here: the
paper's 480 configurations are 40.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array

from baselines.baseline import Baseline, Predictor
from baselines.grids import Grid, Parameters, Size
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData
from npt.errors import Infeasible
from npt.interface import Resources
from npt.table import Task
from npt.validation import Strict

Nearest = tuple[np.ndarray, np.ndarray]  # distances and indices (n, k)
MEBIBYTES = 128  # of the distances that are held together


class NeighbourSettings(Strict):
    """Parameters; the ways of finding neighbours have no effect."""

    n_neighbors: int = Field(default=5, ge=1)
    weights: Literal["uniform", "distance"] = "uniform"
    p: float = Field(default=2, gt=0, allow_inf_nan=False)
    algorithm: str = "brute"
    leaf_size: int = 30


class KNN(Baseline):
    """k nearest neighbours."""

    name = "knn"
    title = "k-NN"
    libraries = ("scikit-learn",)
    test_settings = {"grid": {"n_neighbors": [2, 5]}}
    keeps_train_rows = True
    schema = NeighbourSettings
    defaults = NeighbourSettings().model_dump()
    # 20 configurations.
    quick = {
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
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Keep the train rows.

        Raises:
            Infeasible: There are fewer train rows than neighbours.
        """
        k = parameters["n_neighbors"]
        available = len(data.train)
        if k > available:
            raise Infeasible(f"n_neighbors {k} is more than the {available} train rows")
        return Neighbours(data.stored_rows, parameters["p"], k, resources.threads)

    def shared_parameters(self, parameters: Parameters) -> tuple[str, ...]:
        """Neighbours serve every smaller k and both weightings."""
        return ("n_neighbors", "weights")

    def effective_parameters(self, parameters: Parameters, data: TrainingData) -> Parameters:
        """Without the ways of finding neighbours."""
        return {name: parameters[name] for name in ("n_neighbors", "weights", "p")}


@dataclass
class Neighbours(RowPredictor):
    """The mean vote of the nearest stored rows; all of them if there are fewer than k.

    Attributes:
        p: Order of the norm.
        largest: Largest k, whose neighbours are found.
    """

    stored: StoredRows
    p: float
    largest: int
    threads: int
    _last: tuple[StoredRows, np.ndarray, Nearest] | None = field(default=None, init=False)

    def predict_from(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Mean votes (n,) or (n, K) of the nearest among some rows."""
        means = self._votes(stored, features, parameters) @ stored.targets
        return means if stored.classes else means[:, 0]

    def weights(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Shares (n, m) of the vote."""
        return self._votes(stored, features, parameters).toarray()

    def _votes(self, stored: StoredRows, features: np.ndarray, parameters: Parameters) -> csr_array:
        """Shares (n, m) of the vote; by distance, neighbours at distance zero have all of it.

        The neighbours of the last rows are kept, which all configurations of a search and the
        prediction of its winner share.
        """
        last = self._last
        if last is None or last[0] is not stored or not np.array_equal(last[1], features):
            last = self._last = (stored, features, self.nearest(stored, features))
        k = parameters["n_neighbors"]
        distances, neighbours = (nearest[:, :k] for nearest in last[2])
        votes = np.ones_like(distances)
        if parameters["weights"] == "distance":
            with np.errstate(divide="ignore"):
                votes = 1 / distances
            same = np.isinf(votes)
            votes = np.where(same.any(1, keepdims=True), same, votes)
        votes = votes / votes.sum(1, keepdims=True)
        starts = np.arange(0, votes.size + 1, votes.shape[1])
        shape = (len(votes), len(stored.labels))
        return csr_array((votes.ravel(), neighbours.ravel(), starts), shape=shape)

    def nearest(self, stored: StoredRows, queries: np.ndarray) -> Nearest:
        """Distances and indices (n, k) of the stored rows nearest to queries.

        They are in ascending order. Ties are in that of the rows.
        """
        from sklearn.metrics import pairwise_distances_chunked

        count = min(self.largest, len(stored.labels))

        def smallest(distances: np.ndarray, start: int) -> Nearest:
            neighbours = np.empty((len(distances), count), np.int64)
            bounds = np.partition(distances, count - 1)[:, count - 1]
            for query, (to_all, bound) in enumerate(zip(distances, bounds, strict=True)):
                near = np.flatnonzero(to_all <= bound)
                neighbours[query] = near[np.argsort(to_all[near], kind="stable")[:count]]
            return np.take_along_axis(distances, neighbours, 1), neighbours

        parts = pairwise_distances_chunked(
            queries,
            stored.features,
            reduce_func=smallest,
            metric="minkowski",
            p=self.p,
            n_jobs=self.threads,
            working_memory=MEBIBYTES,
        )
        distances, neighbours = zip(*parts, strict=True)
        return np.concatenate(distances), np.concatenate(neighbours)


BASELINE = KNN()
