"""Probes find what is known of models whose answer is known, and would notice if it were not so.

A constant has no skill, and a linear model reads no other row. The prediction of k-NN needs its k
nearest rows. Weights of stored rows are the derivatives of a prediction by their targets.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from baselines import baselines, methods
from baselines.grids import BaselineSettings
from baselines.knn import Neighbours
from baselines.stored_rows import StoredRows
from baselines.trained import TrainedBaseline
from baselines.tuned import TunedBaseline
from npt.interface import Resources
from npt.perturbation import Perturbation
from npt.table import Column, Split, Table
from workflow.studies.deletion import DeletionOptions
from workflow.studies.deletion.algorithm import deletions
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Options

NAMES = ("constant", "linear", "knn", "gaussian_process")
K = 5
STRICT = DeletionOptions(tolerance=1e-9, left=(K + 1) / 51)
ROUNDING = 1e-6


def query(name: str, **grid: Any) -> ProbeQuery:
    """Four test rows of a trained baseline."""
    values = np.random.default_rng(0).normal(size=(80, 4))
    rows = np.arange(80)
    table = Table.of([Column(name, "continuous") for name in ("a", "b", "c", "y")], values, 3)
    split = Split(0, rows[:50], rows[50:65], rows[65:])
    settings = BaselineSettings(grid=grid or "quick")
    learner = TunedBaseline(baselines()[name], settings, Resources())
    learner.fit(table.blind(split.test), split, 0)
    assert learner.trained is not None
    probe = methods()[name].probe(learner.trained)
    return ProbeQuery(probe, table, split, split.test[:4], seed=0, options=Options())


def movement(asked: ProbeQuery, share: float) -> float:
    """Largest change of a prediction, in standard deviations of the train targets."""
    model = cast(TrainedBaseline, asked.probe.trained)
    change = asked.perturbed(Perturbation("shuffle", share)) - model.predict(asked.rows).values
    return float(np.abs(change).max() / model.statistics.scale[model.target])


def shares_of_needed_rows(asked: ProbeQuery) -> list[float]:
    """Share of the k nearest rows, found anew from the features, that a deletion keeps."""
    model = cast(TrainedBaseline, asked.probe.trained)
    train = model.data.train
    shares = []
    for row in asked.rows:
        distances = ((model.data.features[train] - model.data.features[row]) ** 2).sum(1)
        needed = np.argsort(distances, kind="stable")[:K]
        (deletion,) = deletions(asked.row_probe, np.array([row]), STRICT, asked.seed)
        kept = np.flatnonzero(deletion.kept)
        assert len(kept) == K
        shares.append(len(np.intersect1d(kept, needed)) / K)
    return shares


def derivative_error(asked: ProbeQuery) -> float:
    """Largest difference of a weight from the change of a prediction when its target moves."""
    model = cast(TrainedBaseline, asked.probe.trained)
    stored = model.data.stored_rows
    features = model.data.features[asked.rows]
    weights = model.predictor.weights(stored, features, model.parameters)
    before = model.predict_from(stored, features)
    largest = 0.0
    for index in range(len(stored.labels)):
        labels = stored.labels.copy()
        labels[index] += 1
        after = model.predict_from(StoredRows(stored.features, labels), features)
        derivative = (after - before) / model.statistics.scale[model.target]
        largest = max(largest, float(np.abs(derivative - weights[:, index]).max()))
    return largest


@pytest.mark.parametrize("name", NAMES)
def test_the_identity_permutation_moves_nothing(name: str) -> None:
    assert movement(query(name), 0.0) <= ROUNDING


@pytest.mark.parametrize("name", ["constant", "linear"])
def test_models_without_other_rows_do_not_depend_on_them(name: str) -> None:
    assert movement(query(name), 1.0) <= ROUNDING


def test_a_constant_has_no_skill() -> None:
    asked = query("constant")
    assert np.allclose(asked.probe.trained.predict(asked.rows).values, asked.constant())


def test_deletion_keeps_the_neighbours_that_are_needed() -> None:
    assert shares_of_needed_rows(query("knn", n_neighbors=[K])) == [1.0] * 4


@pytest.mark.parametrize("name", ["knn", "gaussian_process"])
def test_weights_are_derivatives(name: str) -> None:
    assert derivative_error(query(name)) <= ROUNDING


def test_deletion_that_keeps_wrong_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    predict = Neighbours.predict_from

    def of_the_farthest(
        self: Neighbours, stored: StoredRows, features: np.ndarray, parameters: Any
    ) -> np.ndarray:
        return predict(self, StoredRows(-stored.features, stored.labels), features, parameters)

    monkeypatch.setattr(Neighbours, "predict_from", of_the_farthest)
    assert np.mean(shares_of_needed_rows(query("knn", n_neighbors=[K]))) < 0.9


def test_wrong_weights_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = Neighbours.weights

    def doubled(self: Neighbours, *arguments: Any) -> np.ndarray:
        return 2 * weights(self, *arguments)

    monkeypatch.setattr(Neighbours, "weights", doubled)
    assert derivative_error(query("knn", n_neighbors=[K])) == pytest.approx(1 / K)
