"""What there is of a run: as rows with reasons, and as tables that do not pass parts for wholes."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from baselines import methods
from npt.data import store
from npt.metrics import PAPER_METRICS
from npt.table import Column, Split, Table
from workflow.config.reading import read
from workflow.config.scoring import Scoring
from workflow.planning.old_plan import Plan
from workflow.planning.revision import PROBE_SOURCES, revision
from workflow.planning.runs import Run
from workflow.report.figures import FIGURES
from workflow.report.findings import answer
from workflow.report.headline import headline
from workflow.report.old_rank_tests import rank_tests
from workflow.report.tables import TABLES
from workflow.results.partial import Gathered, Interim
from workflow.results.row import UNFINISHED
from workflow.results.rows import write_rows
from workflow.steps import interim
from workflow.studies.kinds import KINDS, Kind

SCORING = Scoring(PAPER_METRICS)
CONTENT: dict[str, Any] = {
    "folds": "0-2", "datasets": ["yacht", "wine"], "methods": ["npt", "knn", "mlp"],
    "studies": {"main": {}, "corruption": {"kind": "corruption", "methods": ["npt", "knn"]}},
}  # fmt: skip
FACTS: dict[str, Any] = {"content": "c", "splits": "s", "origins": {}, "licence": "none"}


def planned(**changes: Any) -> Plan:
    return Plan(read({**CONTENT, **changes}))


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Two prepared tables of four rows, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("yacht", "wine"):
        prepare(name)
    return planned()


def prepare(name: str, levels: tuple[str, ...] = ("a", "b", "c"), **facts: Any) -> None:
    kind = "continuous" if name == "yacht" else "categorical"
    cells = np.array([0.0, 1, 2, 1]) if name == "yacht" else np.array([0, 1, 1, 0], np.int32)
    table = Table((Column("y", kind, () if name == "yacht" else levels),), (cells,), 0)  # type: ignore[arg-type]
    folds = {fold: Split(fold, np.array([0, 1]), np.array([2]), np.array([3])) for fold in range(3)}
    store.save(
        Path(f"results/data/{name}.arrow"),
        store.Prepared(table, folds, {**FACTS, "name": name, **facts}),
    )


def finish(plan: Plan, run: Run, study: str = "main", **changes: Any) -> None:
    """Write rows as the run's job, or its probe's, would."""
    task = "regression" if run.dataset == "yacht" else "multiclass"
    score = {"npt": 0.5, "knn": 0.75, "mlp": 0.25}.get(run.method, 1.0)
    plain = {"dataset": run.dataset, "task": task, "method": run.method, "variant": run.variant, "status": "ok", "reason": "",
             "preset": "toy", "fingerprint": run.fingerprint, "revision": "r", "data": "c", "splits": "s", "train_rows": 2,
             "test_rows": 1, "validation_loss": score}  # fmt: skip
    if study == "corruption":
        plain |= {"options": asdict(plan.studies[study].options), "rows": 1}
    path, metric = (
        Path(plan.rows_of(plan.studies[study], run)),
        "test_rmse" if task == "regression" else "test_accuracy",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(
        path,
        [
            {**plain, "fold": fold, metric: score + fold**2 / 100 * score, **changes}
            for fold in run.folds
        ],
    )


def finish_all(plan: Plan, *but: str) -> None:
    for stem, run in plan.runs.items():
        if not stem.startswith(but):
            finish(plan, run)


def log(name: str, text: str) -> None:
    path = Path("results/logs") / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def gathered(plan: Plan, study: str = "main") -> Gathered:
    return Interim(plan).gathered(plan.studies[study])


def reasons(plan: Plan, study: str = "main") -> dict[tuple[str, str, int], str]:
    found = gathered(plan, study)
    waiting = [row for row in found.rows if row["status"] == UNFINISHED]
    assert len(waiting) == found.missing
    assert len(found.rows) == (18 if study == "main" else 12)
    return {(row["dataset"], row["method"], row["fold"]): row["reason"] for row in waiting}


def frame(plan: Plan) -> pd.DataFrame:
    return pd.DataFrame(gathered(plan).rows)


def test_what_is_not_there_has_the_error_that_ends_the_log_of_its_job(plan: Plan) -> None:
    Path("results/data/wine.arrow").unlink()
    finish_all(plan, "yacht/npt/")
    log(
        "train/yacht/npt/base/0",
        "loading\nerror: first\nTraceback\nerror: ValueError: too small\nerror: \n",
    )
    log("train/yacht/npt/base/1", "loading\n")
    log("prepare/wine", "error: wine.data: not found\n")
    stopped = "no result, and no error in results/logs/train/yacht/npt/base/1.log: stopped from outside, or not finished yet"
    npt = {
        ("yacht", "npt", 0): "ValueError: too small",
        ("yacht", "npt", 1): stopped,
        ("yacht", "npt", 2): "not begun",
    }
    wine = {
        ("wine", method, fold): "wine.data: not found"
        for method in ("npt", "knn", "mlp")
        for fold in range(3)
    }
    assert reasons(plan) == {**npt, **wine}
    log("probe/corruption/yacht/knn/base/0-2", "error: no such row\n")
    probed = reasons(plan, "corruption")
    assert {probed["yacht", "knn", fold] for fold in range(3)} == {"no such row"}
    assert {key: probed[key] for key in npt} == npt


def test_a_file_that_is_refused_is_missing_with_the_refusal(plan: Plan) -> None:
    finish_all(plan)
    finish(plan, plan.runs["wine/knn/base/0-2"], fingerprint="old")
    Path("results/runs/yacht/npt/base/1.jsonl").write_text("{")
    Path("results/runs/yacht/npt/base/2.jsonl").unlink()
    Path("results/runs/yacht/npt/base/2.jsonl").mkdir()
    found = reasons(plan)
    assert "1.jsonl:1: not JSON" in found["yacht", "npt", 1]
    assert "Is a directory" in found["yacht", "npt", 2]
    assert "made with other settings or data (old" in found["wine", "knn", 0]
    assert len(found) == 5


def test_rows_of_an_earlier_table_and_answers_to_an_earlier_question_are_missing(
    plan: Plan,
) -> None:
    finish_all(plan)
    prepare("yacht", content="newer")
    assert set(reasons(plan)) == {
        ("yacht", method, fold) for method in ("npt", "knn", "mlp") for fold in range(3)
    }
    assert (
        reasons(plan)["yacht", "npt", 0]
        == "results/runs/yacht/npt/base/0.jsonl is of an earlier table"
    )
    for run in plan.runs_of(plan.studies["corruption"]):
        if run.dataset == "wine":
            finish(plan, run, "corruption", **({"rows": 7} if run.method == "knn" else {}))
    earlier = "results/probes/corruption/wine/knn/base/0-2.jsonl answers an earlier question"
    found = reasons(plan, "corruption")
    assert {key: found[key] for key in found if key[0] == "wine"} == {
        ("wine", "knn", fold): earlier for fold in range(3)
    }


def test_a_damaged_table_and_refused_rows_of_others_cost_only_what_needs_them(
    plan: Plan, tmp_path: Path
) -> None:
    finish_all(plan)
    Path("results/data/wine.arrow").write_bytes(b"nothing")
    found = reasons(plan)
    assert {key[0] for key in found} == {"wine"}
    assert all("wine.arrow: damaged" in reason for reason in found.values())
    theirs = tmp_path / "theirs/runs/yacht/mlp/base/0-2.jsonl"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("{}\n")
    merging = planned(studies={"main": {"also": str(tmp_path / "theirs")}})
    merged = gathered(merging)
    assert merged.missing == 9 + 3
    assert any("0-2.jsonl:1: lacks dataset" in remark for remark in merged.remarks)
    mine = Path("results/runs/yacht/mlp/base")
    rows = [
        json.loads(line)
        for path in sorted(mine.iterdir())
        for line in path.read_text().splitlines()
    ]
    rows = [{key: value for key, value in row.items() if key != "checksum"} for row in rows]
    for others, reason, missing in (
        (rows, "", 9),
        (
            [{**row, "fingerprint": "theirs"} for row in rows],
            "made with other settings or data (theirs",
            12,
        ),
        ([{**row, "status": "failed"} for row in rows], "failed without a reason", 12),
        (rows[:2], "fold 2: 0 rows in no file", 12),
        ([*rows, rows[0]], "fold 0: 2 rows in", 12),
    ):
        write_rows(theirs, others)
        merged = gathered(merging)
        told = [
            row["reason"]
            for row in merged.rows
            if row["method"] == "mlp" and row["dataset"] == "yacht"
        ]
        assert merged.missing == missing, reason
        assert all(reason in one for one in told) and any(told) == bool(reason), told


def test_a_tuned_fold_waits_for_all_its_trials(plan: Plan) -> None:
    tuned = planned(studies={"main": {"tuned": True, "methods": ["npt"]}}, budget={"npt": 2})
    finish_all(tuned, "wine/npt/trial_01/1")
    found = gathered(tuned)
    assert [(row["fold"], row["variant"]) for row in found.rows if row["status"] == UNFINISHED] == [
        (1, "tuned")
    ]
    waiting = next(row for row in found.rows if row["status"] == UNFINISHED)
    assert not {"chosen", "changes"} & set(waiting)
    assert found.remarks == []


def test_a_class_count_that_the_configuration_leaves_open_is_that_of_the_table(plan: Plan) -> None:
    block = {"path": __file__, "target": "y", "task": "classification", "folds": 3}
    own = planned(tables={"wine2": block}, datasets=["wine2"], studies={"main": {}})
    prepare("wine2", levels=("a", "b"))
    assert {row["task"] for row in gathered(own).rows} == {"binary"}


def test_what_went_wrong_beside_the_rows_is_told(plan: Plan) -> None:
    finish_all(plan)
    finish(plan, plan.runs["yacht/npt/base/0"], revision="older")
    log("collect/main", "error: rows of different revisions\n")
    log("show/main", "error: no room\n")
    Path("results/runs/yacht/mlp/base/0.jsonl").unlink()  # has no revision of its own
    remarks = gathered(plan).remarks
    assert any(
        remark.startswith("npt: rows of different code revisions: older (1 rows), r")
        for remark in remarks
    )
    assert remarks[1:] == ["rows of different revisions", "no room"]


def test_a_dataset_with_a_missing_result_is_neither_ranked_nor_tested_and_the_others_are(
    plan: Plan,
) -> None:
    finish_all(plan, "yacht/npt/base/1", "yacht/mlp/")
    study = frame(plan)
    ranks = TABLES["ranks"](study, SCORING)
    by_task = {
        task: part.set_index("method")["mean_rank"] for task, part in ranks.tidy.groupby("task")
    }
    assert by_task["multiclass"].to_dict() == {"knn": 1, "npt": 2, "mlp": 3}
    assert by_task["regression"].isna().all()
    assert "Not ranked yet, for want of results: Yacht." in ranks.markdown("toy")
    assert list(rank_tests(study, SCORING).ranks.index) == ["wine"]
    metrics = TABLES["metrics"](study, SCORING).tidy.set_index(["dataset", "method", "metric"])[
        "mean"
    ]
    assert metrics["yacht", "knn", "rmse"] > 0
    assert pd.isna(metrics["yacht", "npt", "rmse"])
    tests = TABLES["fold_tests"](study, SCORING).tidy.set_index(["dataset", "method"])
    assert tests.loc["wine", "p_value"].notna().all()
    assert tests.loc["yacht", "p_value"].isna().all()
    assert "no dataset has all its results yet" in answer(study, "benchmark", SCORING)
    assert "over 1 dataset" in headline({"main": study}, {"main": "benchmark"}, SCORING)


def test_a_comparison_that_is_ready_waits_for_those_it_is_corrected_with(plan: Plan) -> None:
    finish_all(plan, "wine/mlp/")
    tests = TABLES["fold_tests"](frame(plan), SCORING).tidy.set_index(["dataset", "method"])
    assert (
        tests.loc[("wine", "knn"), "reason"]
        == "not tested before all results of the dataset are there"
    )
    assert tests.loc[("wine", "mlp"), "reason"] == "MLP, fold 0: not begun"
    assert pd.isna(tests.loc[("wine", "knn"), "p_holm"])


def test_ranks_by_validation_loss_wait_for_all_folds(plan: Plan) -> None:
    variants = {"npt": {"narrow": {"width": 8}}}
    content = planned(
        studies={"main": {"kind": "ablation", "methods": ["npt"], "variants": variants}}
    )
    finish_all(content, "wine/npt/narrow/2")
    ranks = TABLES["validation_ranks"](frame(content), SCORING)
    assert list(ranks.tidy["dataset"].unique()) == ["yacht"]
    assert "Not ranked yet, for want of results: Wine*." in ranks.markdown("toy").replace(
        "\\*", "*"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_figure_and_answer_takes_a_study_of_which_nothing_is_finished(
    kind: Kind, plan: Plan
) -> None:
    study, of_kind = frame(plan), KINDS[kind]
    for name in of_kind.tables:
        assert TABLES[name](study, SCORING).markdown("toy")
    for name in of_kind.figures:
        FIGURES[name](study, SCORING).draw_without_rendering()
    plt.close("all")
    assert answer(study, kind, SCORING)
    assert (
        headline({"main": study}, {"main": kind}, SCORING) == "The studies of this run do not tell."
    )


def test_the_page_has_the_reasons_of_studies_that_it_does_not_show(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("config.yaml").write_text(json.dumps(CONTENT))
    finish_all(plan, "wine/mlp/")
    log("probe/corruption/yacht/npt/base/0", "error: CUDA exploded\n")
    Path("results/interim").write_text("in the way")
    monkeypatch.setattr(sys, "argv", ["interim"])
    interim.main()
    page = Path("results/interim/report/index.html").read_text()
    assert "corruption: npt (base) on yacht, fold 0: CUDA exploded" in page
    assert "main: mlp (base) on wine, folds 0-2: not begun" in page
    assert "15 results are missing" in page
    assert 'id="corruption"' not in page
    assert not list(Path("results").glob(".interim*"))
    interim.main()  # in the place of the one before


def test_results_of_another_revision_of_the_code_are_told_those_of_trainings_for_a_probe_too(
    plan: Plan,
) -> None:
    assert outdated(plan) == []
    asked = planned(studies={"corruption": CONTENT["studies"]["corruption"]})
    for run in asked.runs.values():
        sources = methods()[run.method]
        finish(plan, run, revision="older" if run.method == "knn" else revision(sources))
        finish(
            asked,
            run,
            "corruption",
            revision=revision(sources, PROBE_SOURCES) if run.method == "knn" else "older",
        )
    assert outdated(asked) == ["results/runs/*/knn", "results/probes/corruption/*/npt"]
