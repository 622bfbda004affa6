"""The probes find what is known of models whose answer is known, and would notice if not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from baselines import baselines
from baselines.grids import BaselineSettings
from baselines.knn import Neighbours
from baselines.stored_rows import StoredRows
from baselines.tuned import TunedBaseline, method
from npt.interface import Resources
from npt.table import Column, Split, Table
from tests.workflow.studies.frames import SCORING, instrument_study, with_second_seed
from workflow.studies import kinds
from workflow.studies.instrument.probe import probe
from workflow.studies.instrument.tables import CHECKS
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Options

KIND = kinds()["instrument"]
NAMES = ("constant", "linear", "knn", "gaussian_process")
GRIDS: dict[str, Any] = {"knn": {"n_neighbors": [5]}}


def table_and_split() -> tuple[Table, Split]:
    values = np.random.default_rng(0).normal(size=(80, 4))
    columns = [Column(name, "continuous") for name in ("a", "b", "c", "y")]
    rows = np.arange(80)
    return Table.of(columns, values, 3), Split(0, rows[:50], rows[50:65], rows[65:])


def measured(name: str) -> dict[str, float]:
    table, split = table_and_split()
    return checks_of(name, GRIDS.get(name, "quick"), table, split)


def checks_of(name: str, grid: Any, table: Table, split: Split) -> dict[str, float]:
    settings = BaselineSettings(grid=grid)
    learner = TunedBaseline(baselines()[name], settings, Resources())
    learner.fit(table.blind(split.test), split, 0)
    assert learner.trained is not None
    query = ProbeQuery(
        probe=method(baselines()[name]).probe(learner.trained),
        table=table,
        split=split,
        rows=split.test[:4],
        seed=0,
        options=Options(),
    )
    facts, _ = probe(query)
    return facts["checks"]


@pytest.mark.parametrize("name", NAMES)
def test_the_known_answer_is_found(name: str) -> None:
    checks = measured(name)
    assert len(checks) > 1
    for check, value in checks.items():
        assert CHECKS[check].passes(value), check


def test_deletion_that_keeps_wrong_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    predict = Neighbours.predict_from

    def of_the_farthest(
        self: Neighbours, stored: StoredRows, features: np.ndarray, parameters: Any
    ) -> np.ndarray:
        return predict(self, StoredRows(-stored.features, stored.labels), features, parameters)

    monkeypatch.setattr(Neighbours, "predict_from", of_the_farthest)
    checks = measured("knn")
    assert checks["recall"] < 0.9
    assert checks["precision"] < 0.9


def test_wrong_weights_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = Neighbours.weights

    def doubled(self: Neighbours, *arguments: Any) -> np.ndarray:
        return 2 * weights(self, *arguments)

    monkeypatch.setattr(Neighbours, "weights", doubled)
    assert measured("knn")["derivative"] == pytest.approx(0.2)


def test_the_table_shows_the_worst_fold() -> None:
    tidy = KIND.table("instrument", instrument_study(), SCORING).tidy
    of_knn = tidy[tidy["method"] == "knn"].set_index("check")
    precision = of_knn.loc[CHECKS["precision"].known]
    assert precision["measured"] == pytest.approx(0.9)
    assert not precision["passes"]
    assert of_knn.loc[CHECKS["recall"].known, "passes"]
    assert tidy.loc[tidy["method"] == "linear", "passes"].all()


def test_the_finding_counts_checks_and_names_what_differs() -> None:
    sentence = KIND.finding(instrument_study(), SCORING)
    assert "4 of 5 checks" in sentence
    assert "k-NN on Yacht" in sentence


def test_rows_at_distance_zero_are_needed_alone() -> None:
    table, split = table_and_split()
    values = table.values
    values[split.test, :3] = values[split.train[: len(split.test)], :3]
    table = Table.of(table.columns, values, 3)
    grid = {"n_neighbors": [5], "weights": ["distance"]}
    checks = checks_of("knn", grid, table, split)
    assert checks["precision"] == checks["recall"] == 1


def test_the_worst_seed_counts() -> None:
    study = with_second_seed(instrument_study())
    study.loc[study.index[-1], "checks"] = '{"control": 0.5, "movement": 0.0}'
    tidy = KIND.table("instrument", study, SCORING).tidy
    control = tidy[(tidy["method"] == "linear") & (tidy["check"] == CHECKS["control"].known)]
    assert control["measured"].tolist() == [0.5]
    assert not control["passes"].any()
