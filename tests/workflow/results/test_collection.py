from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from baselines import methods
from npt.interface import UserError
from npt.metrics import METRICS, METRICS_VERSION, Metric
from tests.rows import finish, finish_probe, plan, prepare
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.results.collection import Collected, Collector
from workflow.studies import kinds

NPT = "yacht/npt/base/seed_0/folds_{}"
KNN = "yacht/knn/base/seed_0/folds_0-2"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a run with two prepared datasets."""
    monkeypatch.chdir(tmp_path)
    prepare("yacht")
    prepare("wine")
    return tmp_path


def finish_all(planned: Plan, *but: str) -> None:
    for stem in planned.runs:
        if not stem.startswith(but):
            finish(planned, stem)


def collect(planned: Plan, study: str = "main") -> Collected:
    return Collector(planned).collect(planned.studies[study])


def reasons(planned: Plan, study: str = "main") -> dict[tuple[str, str, int], str]:
    """Reasons of the unfinished rows by dataset, method and fold."""
    rows = collect(planned, study).unfinished
    return {(row.dataset, row.method, row.fold): row.reason for row in rows}


def write_log(rule: str, key: str, text: str) -> None:
    path = Path(paths.log(rule, key))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_rows_come_in_order_with_their_metrics() -> None:
    planned = plan()
    finish_all(planned)
    collected = collect(planned)
    collected.require_complete()
    assert len(collected.rows) == 18
    assert [row.fold for row in collected.rows[:3]] == [0, 1, 2]
    assert collected.rows[0].run_key == "yacht/npt/base"
    assert collected.rows[0].facts["test_rmse"] == 0.5
    assert collected.rows[-1].facts["test_accuracy"] == 1


def test_metric_added_after_the_runs_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan()
    finish_all(planned)
    metric = Metric("mae", "MAE", ("regression",), False, lambda t, p: float(np.abs(t - p).mean()))
    monkeypatch.setitem(METRICS, "mae", metric)
    rows = collect(planned).rows
    assert {row.facts.get("test_mae") for row in rows} == {0.5, 0.75, 0.25, None}


def test_metrics_of_another_version_are_computed_again() -> None:
    planned = plan()
    finish_all(planned)
    scored = {"test_rmse": 7.0, "test_mse": 49.0}
    finish(planned, NPT.format(0), metrics=METRICS_VERSION, **scored)
    finish(planned, NPT.format(1), metrics="0", **scored)
    finish(planned, NPT.format(2), metrics=METRICS_VERSION, test_rmse=7.0)
    scores: dict[int, float] = {}
    for row in collect(planned).rows:
        if row.run_key == "yacht/npt/base":
            scores[row.fold] = row.facts["test_rmse"]
    assert scores == {0: 7.0, 1: 0.5, 2: 0.5}


def test_missing_result_has_the_error_of_its_job() -> None:
    planned = plan()
    Path(paths.prepared("wine")).unlink()
    finish_all(planned, "yacht/npt/")
    write_log("run", NPT.format(0), "error: first\nTraceback\nerror: ValueError: small\nerror: \n")
    write_log("run", NPT.format(1), "loading\n")
    write_log("prepare", "wine", "error: wine.data: not found\n")
    unfinished = reasons(planned)
    assert len(unfinished) == 3 + 9
    assert unfinished["yacht", "npt", 0] == "ValueError: small"
    assert paths.log("run", NPT.format(1)) in unfinished["yacht", "npt", 1]
    assert unfinished["yacht", "npt", 2] == "not started"
    assert unfinished["wine", "knn", 0] == "wine.data: not found"
    with pytest.raises(UserError, match="yacht/npt/base fold 0: ValueError: small"):
        collect(planned).require_complete()


def test_missing_probe_has_the_error_of_the_first_failed_job() -> None:
    planned = plan()
    finish_all(planned, "yacht/npt/")
    write_log("run", NPT.format(0), "error: no memory\n")
    write_log("probe", KNN, "error: no such row\n")
    unfinished = reasons(planned, "corruption")
    assert unfinished["yacht", "knn", 2] == "no such row"
    assert unfinished["yacht", "npt", 0] == "no memory"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"fingerprint": "old"}, "fingerprint: "),
        ({"data": "old"}, "data: "),
        ({"splits": "old"}, "splits: "),
        ({"task": "binary"}, "task: "),
        ({"status": "failed"}, "reason: "),
    ],
)
def test_row_of_other_settings_or_data_is_missing(changes: dict[str, str], key: str) -> None:
    planned = plan()
    finish_all(planned)
    finish(planned, KNN, **changes)
    unfinished = reasons(planned)
    assert {identity[1] for identity in unfinished} == {"knn"}
    assert all(f"{paths.run_rows(KNN)}: {key}" in reason for reason in unfinished.values())


def test_damaged_file_and_double_row_are_missing() -> None:
    planned = plan()
    finish_all(planned)
    Path(paths.run_rows(NPT.format(0))).write_text("{")
    Path(paths.run_predictions(NPT.format(1))).write_bytes(b"nothing")
    Path(paths.run_predictions(NPT.format(2))).unlink()
    rows = Path(paths.run_rows(KNN))
    rows.write_text(rows.read_text() + rows.read_text())
    unfinished = reasons(planned)
    assert all(reason.endswith(".jsonl and run again") for reason in unfinished.values())
    assert "folds_0.jsonl:1" in unfinished["yacht", "npt", 0]
    assert "folds_1.predictions.npz" in unfinished["yacht", "npt", 1]
    assert "folds_2.predictions.npz" in unfinished["yacht", "npt", 2]
    assert "2 rows" in unfinished["yacht", "knn", 0]
    assert len(unfinished) == 6


def test_damaged_dataset_costs_only_its_rows() -> None:
    planned = plan()
    finish_all(planned)
    Path(paths.prepared("wine")).write_bytes(b"nothing")
    assert {identity[0] for identity in reasons(planned)} == {"wine"}


def test_row_of_an_earlier_probe_is_missing() -> None:
    planned = plan()
    finish_all(planned)
    for stem in planned.studies["corruption"].runs:
        finish_probe(planned, "corruption", stem)
    assert reasons(planned, "corruption") == {}
    finish_probe(planned, "corruption", KNN, rows=7)
    finish_probe(planned, "corruption", NPT.format(1), options={"bins": 5})
    unfinished = reasons(planned, "corruption")
    assert set(unfinished) == {("yacht", "knn", fold) for fold in range(3)} | {("yacht", "npt", 1)}


def test_failed_row_needs_no_predictions() -> None:
    planned = plan()
    finish_all(planned)
    finish(planned, KNN, status="failed", reason="out of memory")
    Path(paths.run_predictions(KNN)).unlink()
    collected = collect(planned)
    collected.require_complete()
    assert sum(row.status == "failed" for row in collected.rows) == 3


def test_rows_of_another_version_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan()
    finish_all(planned)
    collect(planned).require_complete()
    newer = replace(methods()["npt"], version=2)
    monkeypatch.setitem(methods(), "npt", newer)
    changed = plan()
    assert changed.runs[NPT.format(0)].fingerprint != planned.runs[NPT.format(0)].fingerprint
    assert {method for _, method, _ in reasons(changed)} == {"npt"}


def test_probes_of_another_version_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan()
    for run in planned.probed_runs_of(planned.studies["corruption"]):
        finish_probe(planned, "corruption", run.stem)
    assert not reasons(planned, "corruption")
    monkeypatch.setitem(kinds(), "corruption", replace(kinds()["corruption"], version=2))
    found = reasons(planned, "corruption").values()
    assert found
    assert all("revision" in reason for reason in found)


def test_tuned_study_has_a_row_per_fold() -> None:
    study = {"tuned": True, "methods": ["npt"], "datasets": ["yacht"]}
    planned = plan(studies={"main": study}, budget={"npt": 2})
    for stem in planned.runs:
        finish(planned, stem, validation_loss=0.1 if "trial" in stem else 0.5)
    rows = collect(planned).rows
    assert [row.variant for row in rows] == ["tuned"] * 3
    assert {row.chosen["configuration"] for row in rows if row.chosen} == {"trial_01"}


def test_every_seed_has_its_rows() -> None:
    planned = plan(seeds=[0, 1], studies={"main": {"methods": ["knn"]}}, datasets=["yacht"])
    finish_all(planned, "yacht/knn/base/seed_1")
    collected = collect(planned)
    assert [row.seed for row in collected.rows] == [0, 0, 0, 1, 1, 1]
    assert {row.seed for row in collected.unfinished} == {1}


def test_task_of_an_unprepared_dataset_is_the_declared_one() -> None:
    planned = plan()
    Path(paths.prepared("wine")).unlink()
    tasks = {row.dataset: row.task for row in collect(planned).rows}
    assert tasks == {"yacht": "regression", "wine": "multiclass"}


def test_study_uses_its_folds_of_a_shared_run() -> None:
    studies = {"main": {"folds": "0-1"}, "more": {"folds": "1-2"}}
    planned = plan(studies=studies, methods=["knn"], datasets=["yacht"])
    finish_all(planned)
    assert list(planned.runs) == [KNN]
    assert [row.fold for row in collect(planned).rows] == [0, 1]
    assert [row.fold for row in collect(planned, "more").rows] == [1, 2]


def test_rows_record_no_metric() -> None:
    planned = plan()
    finish(planned, KNN)
    line = json.loads(Path(paths.run_rows(KNN)).read_text().splitlines()[0])
    assert not any(name.startswith(("test_", "validation_rmse")) for name in line)
