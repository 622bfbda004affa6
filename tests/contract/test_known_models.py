"""Probes find what is known of models whose answer is known.

A constant has no skill, and a linear model reads no other row. The prediction of k-NN needs its k
nearest rows.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any, cast

import numpy as np
import pytest

from baselines import baselines, methods
from baselines.grids import BaselineSettings
from baselines.trained import TrainedBaseline
from baselines.tuned import TunedBaseline
from npt.interface import Resources
from npt.perturbation import Perturbation
from npt.table import Column, Split, Table
from workflow.studies.deletion import DeletionOptions
from workflow.studies.deletion.algorithm import deletions
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Options

K = 5
STRICT = DeletionOptions(tolerance=1e-6, left=(K + 1) / 51)


def query(name: str, **grid: Any) -> ProbeQuery:
    """Four test rows of a trained baseline."""
    values = np.random.default_rng(0).normal(size=(80, 4))
    rows = np.arange(80)
    table = Table.from_values(
        [Column(name, "continuous") for name in ("a", "b", "c", "y")], values, 3
    )
    split = Split(0, rows[:50], rows[50:65], rows[65:])
    settings = BaselineSettings(grid=grid or "quick")
    learner = TunedBaseline(baselines()[name], settings, Resources())
    learner.fit(table.blind(split.test), split, 0)
    assert learner.trained is not None
    probe = resolve_name(methods()[name].probe)(learner.trained)
    return ProbeQuery(probe, table, split, split.test[:4], seed=0, options=Options())


@pytest.mark.parametrize("name", ["constant", "linear"])
def test_rows_that_are_not_read_change_nothing(name: str) -> None:
    asked = query(name)
    shuffled = asked.perturbed(Perturbation("shuffle", 1.0))
    assert shuffled == pytest.approx(asked.probe.predict(asked.rows), abs=1e-6)


def test_a_constant_has_no_skill() -> None:
    asked = query("constant")
    assert np.allclose(asked.probe.trained.predict(asked.rows).values, asked.constant())


def test_deletion_keeps_the_neighbours_that_are_needed() -> None:
    asked = query("knn", n_neighbors=[K])
    model = cast(TrainedBaseline, asked.probe.trained)
    train = model.data.train
    for row in asked.rows:
        distances = ((model.data.features[train] - model.data.features[row]) ** 2).sum(1)
        nearest = np.argsort(distances, kind="stable")[:K]
        (deletion,) = deletions(asked.row_probe, np.array([row]), STRICT, asked.seed)
        assert set(np.flatnonzero(deletion.kept)) == set(nearest)
