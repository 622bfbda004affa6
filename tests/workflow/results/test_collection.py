from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baselines import methods
from npt.errors import UserError
from npt.metrics import METRICS_VERSION
from npt.table import Split
from tests.rows import finish, finish_all, finish_probe, plan, prepared, row
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.results.collection import collect as collect_study
from workflow.results.collection import planned_probe
from workflow.results.row import Row
from workflow.studies import kinds

NPT = "yacht/npt/base/seed_0/folds_{}"
KNN = "yacht/knn/base/seed_0/folds_0-2"
pytestmark = pytest.mark.usefixtures("folder")


def finished(*but: str) -> Plan:
    planned = plan()
    finish_all(planned, *but)
    return planned


def collect(planned: Plan, study: str = "main") -> list[Row]:
    return collect_study(planned.studies[study], planned)


def refusal(planned: Plan, study: str = "main") -> str:
    with pytest.raises((UserError, FileNotFoundError)) as error:
        collect(planned, study)
    return str(error.value)


def test_rows_come_in_order_with_their_metrics() -> None:
    planned = finished()
    rows = collect(planned)
    assert len(rows) == 18
    assert [row.fold for row in rows[:3]] == [0, 1, 2]
    assert rows[0].run_key == "yacht/npt/base"
    assert rows[0].facts["test_rmse"] == 0.5
    assert rows[-1].facts["test_accuracy"] == 1


def test_metrics_of_another_version_are_computed_again() -> None:
    planned = finished()
    scored = {"test_rmse": 7.0, "test_mse": 49.0}
    finish(planned, NPT.format(0), metrics=METRICS_VERSION, **scored)
    finish(planned, NPT.format(1), metrics="0", **scored)
    scores = [collected.facts["test_rmse"] for collected in collect(planned)[:3]]
    assert scores == [7.0, 0.5, 0.5]


def test_the_first_missing_row_is_named() -> None:
    planned = finished(NPT.format(1))
    refused = refusal(planned)
    assert str(paths.run_rows(NPT.format(1))) in refused
    assert refused.endswith("yacht/npt/base seed 0 fold 1; run again")


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
def test_row_of_other_settings_or_data_is_refused(changes: dict[str, str], key: str) -> None:
    planned = finished()
    finish(planned, KNN, **changes)
    assert f"{paths.run_rows(KNN)}: {key}" in refusal(planned)


def test_damaged_file_and_double_row_are_refused() -> None:
    planned = finished()
    rows = paths.run_rows(KNN)
    rows.write_text(rows.read_text() + rows.read_text())
    assert f"{rows}: 2 rows" in refusal(planned)
    for path, content in (
        (paths.run_predictions(NPT.format(1)), b"nothing"),
        (paths.run_rows(NPT.format(0)), b"{"),
    ):
        path.write_bytes(content)
        refused = refusal(planned)
        assert str(path) in refused
        assert refused.endswith(".jsonl and run again")


@pytest.mark.parametrize("changes", [{"rows": 7}, {"options": {"bins": 5}}])
def test_row_of_an_earlier_probe_is_refused(changes: dict[str, Any]) -> None:
    planned = finished()
    for stem in planned.studies["corruption"].runs:
        finish_probe(planned, "corruption", stem)
    assert len(collect(planned, "corruption")) == 12
    finish_probe(planned, "corruption", KNN, **changes)
    refused = refusal(planned, "corruption")
    assert f"{next(iter(changes))}: " in refused
    assert refused.endswith(f"remove {paths.probes(KNN)} and run again")


@pytest.mark.parametrize(("limit", "planned_rows"), [(None, 2), (1, 1), (5, 2)])
def test_probe_has_the_planned_number_of_rows(limit: int | None, planned_rows: int) -> None:
    study = plan().studies["corruption"].model_copy(update={"max_test_rows": limit})
    split = Split(0, np.array([0]), np.array([1]), np.array([2, 3]))
    planned = planned_probe(row(), study, replace(prepared(), splits={0: split}))
    assert planned["rows"] == planned_rows


def test_failed_row_needs_no_predictions() -> None:
    planned = finished()
    finish(planned, KNN, status="failed", reason="out of memory")
    paths.run_predictions(KNN).unlink()
    assert sum(row.status == "failed" for row in collect(planned)) == 3


def test_rows_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = finished()
    collect(planned)
    newer = replace(methods()["npt"], version=2)
    monkeypatch.setitem(methods(), "npt", newer)
    changed = plan()
    assert changed.runs[NPT.format(0)].fingerprint != planned.runs[NPT.format(0)].fingerprint
    assert f"{paths.run_rows(NPT.format(0))}: fingerprint: " in refusal(changed)


def test_probes_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan()
    for stem in planned.studies["corruption"].runs:
        finish_probe(planned, "corruption", stem)
    collect(planned, "corruption")
    monkeypatch.setitem(kinds(), "corruption", replace(kinds()["corruption"], version=2))
    assert "revision: " in refusal(planned, "corruption")
