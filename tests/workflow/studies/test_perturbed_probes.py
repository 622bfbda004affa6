"""Corruption and dose response: what their probes score, by a model whose errors are known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from npt.perturbation import Perturbation
from npt.probing import Probe
from npt.table import Table
from tests.conftest import first_split, make_table
from workflow.studies import kinds
from workflow.studies.query import ProbeQuery, sampled

NO_MODEL: Any = None


@dataclass(frozen=True)
class Shifted(Probe):
    """Predicts the targets, larger by the share that is shuffled, or ten times that deleted."""

    table: Table

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return self.table.truth[rows]

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> np.ndarray:
        assert seed == 7
        factor = 1 if perturbation.kind == "shuffle" else 10
        return self.table.truth[rows] + factor * perturbation.share


def query(table: Table, rows: np.ndarray, kind: str, **options: Any) -> ProbeQuery:
    validated = kinds()[kind].options(**options)
    return ProbeQuery(Shifted(NO_MODEL, table), table, first_split(table), rows, 7, validated)


def test_corruption_is_scored_with_its_control() -> None:
    table = make_table("regression", 150)
    rows = first_split(table).test
    facts, arrays = kinds()["corruption"].probe(query(table, rows, "corruption"))
    assert facts["corrupted_rmse"] == facts["corrupted_shift"] == pytest.approx(1)
    assert (facts["corrupted_moved"], facts["control_moved"]) == (1, 0)
    assert facts["clean_rmse"] == facts["control_clean_rmse"] == facts["control_rmse"] == 0
    assert len(arrays["control_rows"]) == 20 < len(rows)
    assert np.array_equal(arrays["control"], table.truth[arrays["control_rows"]])


def test_every_fraction_of_both_kinds_is_scored() -> None:
    table = make_table("regression")
    split = first_split(table)
    rows = split.test[1::2]
    doses = {"shuffle": [0.0, 0.5, 1.0], "delete": [0.0, 0.9]}
    asked = query(table, rows, "dose_response", **doses)
    facts, arrays = kinds()["dose_response"].probe(asked)
    shuffled, deleted = facts["doses"]["shuffle"], facts["doses"]["delete"]
    assert (shuffled["share"], deleted["share"]) == ([0.0, 0.5, 1.0], [0.0, 0.9])
    assert shuffled["rmse"] == pytest.approx([0, 0.5, 1])
    assert deleted["rmse"] == pytest.approx([0, 9])
    assert (arrays["shuffle"].shape, arrays["delete"].shape) == ((3, len(rows)), (2, len(rows)))
    mean = table.truth[split.train].mean()
    errors = table.truth[rows] - mean
    assert facts["constant_rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))


def test_constant_predictions_are_train_frequencies() -> None:
    table = make_table("multiclass")
    split = first_split(table)
    constant = query(table, split.test[:4], "dose_response").constant()
    _, counts = np.unique(table.truth[split.train], return_counts=True)
    assert constant == pytest.approx(np.tile(counts / len(split.train), (4, 1)))


def test_probed_rows_are_drawn_from_all_test_rows() -> None:
    rows = np.arange(100, 200)
    some = sampled(rows, 20, 0)
    assert len(some) == 20
    assert sorted(set(some) & set(rows)) == list(some)
    assert some.max() >= 150
    assert not np.array_equal(some, sampled(rows, 20, 1))
    assert np.array_equal(sampled(rows, 100, 0), rows)
