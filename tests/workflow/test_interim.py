from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from baselines import methods
from npt.metrics import PAPER_METRICS
from workflow.choices import Choices
from workflow.config import read
from workflow.interim import gathered
from workflow.kinds import KINDS
from workflow.plan import Plan
from workflow.report.answer import answer
from workflow.report.figures import FIGURES
from workflow.report.headline import headline
from workflow.report.rank_tests import rank_tests
from workflow.report.summary import UNFINISHED
from workflow.report.tables import TABLES
from workflow.revision import outdated, revision
from workflow.run import Run
from workflow.steps.rows import write_rows

CHOICES = Choices(PAPER_METRICS)
STUDIES = {"main": {}, "corruption": {"kind": "corruption"}}


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.chdir(tmp_path)
    return Plan(read({"seeds": "0-1", "datasets": ["yacht", "wine"], "methods": ["npt", "knn"], "studies": STUDIES}))


def finish(plan: Plan, run: Run, study: str = "main", **changes: Any) -> None:
    """Write rows as the run's job, or its probe's, would."""
    task = plan.config.datasets[run.dataset].expected_task
    metric = "test_rmse" if task == "regression" else "test_accuracy"
    score = 0.5 if run.method == "npt" else 0.75
    plain = {"dataset": run.dataset, "task": task, "method": run.method, "variant": run.variant, "status": "ok", "reason": "",
             "preset": "toy", "fingerprint": run.fingerprint, "revision": "r", metric: score}  # fmt: skip
    path = Path(plan.rows_of(plan.studies[study], run))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(path, [{**plain, "seed": seed, **changes} for seed in run.seeds])


def log(name: str, text: str) -> None:
    path = Path("results/logs") / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def reasons(plan: Plan, study: str) -> dict[tuple[str, str, int], str]:
    rows, missing = gathered(plan, plan.studies[study])
    found = {(row["dataset"], row["method"], row["seed"]): row["reason"] for row in rows if row["status"] == UNFINISHED}
    assert len(found) == missing
    assert len(rows) == 8
    return found


def test_what_is_not_there_has_the_error_that_ends_the_log_of_its_job(plan: Plan) -> None:
    Path("results/data").mkdir(parents=True)
    Path("results/data/yacht.arrow").touch()
    for run in plan.runs.values():
        if run.dataset == "yacht" and run.method == "knn":
            finish(plan, run)
    log("train/yacht/npt/base/0", "loading\nTraceback\nerror: ValueError: too small\n")
    log("train/yacht/npt/base/1", "loading\n")
    log("prepare/wine", "error: wine.data: not found\n")
    stopped = "no result, and no error in results/logs/train/yacht/npt/base/1.log: stopped from outside, or not finished yet"
    expected = {
        ("yacht", "npt", 0): "ValueError: too small",
        ("yacht", "npt", 1): stopped,
        **{("wine", method, seed): "wine.data: not found" for method in ("npt", "knn") for seed in (0, 1)},
    }
    assert reasons(plan, "main") == expected
    log("probe/corruption/yacht/knn/base/0-1", "error: no such row\n")
    probed = {("yacht", "knn", seed): "no such row" for seed in (0, 1)}
    assert reasons(plan, "corruption") == {**expected, **probed}


def test_a_file_that_is_refused_is_missing_with_the_refusal_and_what_is_not_begun_says_so(plan: Plan) -> None:
    for run in plan.runs.values():
        finish(plan, run, **({"fingerprint": "old"} if (run.dataset, run.method) == ("wine", "knn") else {}))
    Path("results/runs/yacht/npt/base/1.jsonl").write_text("{")
    Path("results/runs/yacht/npt/base/0.jsonl").unlink()
    found = reasons(plan, "main")
    assert found["yacht", "npt", 0] == "not begun"
    assert "1.jsonl:1: not JSON" in found["yacht", "npt", 1]
    assert "made with other settings or data (old" in found["wine", "knn", 0]
    assert len(found) == 4


def test_a_dataset_with_a_missing_result_is_not_ranked_and_the_others_are(plan: Plan) -> None:
    for run in plan.runs.values():
        if run.stem != "yacht/npt/base/1":
            finish(plan, run)
    study = pd.DataFrame(gathered(plan, plan.studies["main"])[0])
    ranks = TABLES["ranks"](study, CHOICES)
    by_task = {task: part.set_index("method")["mean_rank"] for task, part in ranks.tidy.groupby("task")}
    assert by_task["multiclass"].to_dict() == {"knn": 1, "npt": 2}
    assert by_task["regression"].isna().all()
    assert "Not ranked yet, for want of results: Yacht." in ranks.markdown("toy")
    assert list(rank_tests(study, CHOICES).ranks.index) == ["wine"]
    metrics = TABLES["metrics"](study, CHOICES).tidy.set_index(["dataset", "method", "metric"])["mean"]
    assert metrics["yacht", "knn", "rmse"] == 0.75
    assert pd.isna(metrics["yacht", "npt", "rmse"])
    assert "no dataset has all its results yet" in answer(study, "benchmark", CHOICES)
    assert "over 1 dataset" in headline({"main": study}, {"main": "benchmark"}, CHOICES)


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_figure_and_answer_takes_a_study_of_which_nothing_is_finished(kind: str, plan: Plan) -> None:
    study = pd.DataFrame(gathered(plan, plan.studies["main"])[0])
    of_kind = KINDS[kind]  # type: ignore[index]
    for name in of_kind.tables:
        assert TABLES[name](study, CHOICES).markdown("toy")
    for name in of_kind.figures:
        FIGURES[name](study, CHOICES).draw_without_rendering()
    plt.close("all")
    assert answer(study, kind, CHOICES)
    assert headline({"main": study}, {"main": kind}, CHOICES) == "The studies of this run do not tell."


def test_results_of_another_revision_of_the_code_are_told(plan: Plan) -> None:
    assert outdated(plan) == []
    for run in plan.runs.values():
        made = {"knn": "older", "npt": revision(methods()["npt"])}[run.method]
        finish(plan, run, revision=made)
        finish(plan, run, "corruption", revision=made)
    assert outdated(plan) == ["results/runs/*/knn", "results/probes/corruption/*/npt", "results/probes/corruption/*/knn"]
