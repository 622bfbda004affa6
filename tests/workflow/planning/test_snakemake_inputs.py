"""What the rules bind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from baselines import methods
from workflow.config.reading import read, read_file
from workflow.planning import limits, paths
from workflow.planning.forecast import search_seconds
from workflow.planning.patterns import methods_of_rule
from workflow.planning.plan import Plan
from workflow.planning.snakemake_inputs import RULES, Jobs
from workflow.studies import kinds

ROOT = Path(__file__).parents[3]


class Wildcards(dict[str, str]):
    """Snakemake's wildcards: items that are attributes too."""

    __getattr__ = dict.__getitem__


def jobs(**changes: Any) -> Jobs:
    plain = {"folds": 0, "datasets": ["yacht"], "methods": ["npt", "knn"], "studies": {"main": {}}}
    return Jobs(Plan.of(read({**plain, **changes})))


def shipped(path: str) -> Jobs:
    return Jobs(Plan.of(read_file(ROOT / path)))


def run(dataset: str, method: str, folds: str = "0", variant: str = "base") -> Wildcards:
    return Wildcards(dataset=dataset, method=method, variant=variant, seed="0", folds=folds)


def test_every_method_has_one_rule() -> None:
    patterns = [methods_of_rule(rule) for rule in ("train", "fit", "fit_accelerated")]
    names = "|".join(patterns).split("|")
    assert sorted(names) == sorted(methods())
    accelerated = {"xgboost", "catboost", "tabnet", "deep_kernel_learning"}
    accelerated |= {"anp", "modern_nca", "npt_solved", "realmlp", "tabm", "tabr"}
    assert set(patterns[2].split("|")) == accelerated


def test_study_is_collected_again_when_its_rows_change() -> None:
    main = Wildcards(study="main")
    base = jobs().contents(main)
    changes: list[dict[str, Any]] = [
        {"folds": "0-1"},
        {"methods": ["knn", "npt"]},
        {"settings": {"knn": {"grid": "quick"}}},
    ]
    for change in changes:
        assert jobs(**change).contents(main) != base
    assert jobs(preset="other", metrics={"regression": "mse"}).contents(main) == base


def test_study_is_collected_again_for_another_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    main = Wildcards(study="main")
    base = jobs().contents(main)
    monkeypatch.setattr("workflow.planning.snakemake_inputs.METRICS_VERSION", "0")
    assert jobs().contents(main) != base


def external_jobs(source: Path) -> Jobs:
    return jobs(studies={"main": {"external_results": str(source)}})


def test_study_is_collected_again_for_new_external_files(tmp_path: Path) -> None:
    main = Wildcards(study="main")
    rows = tmp_path / "runs" / "yacht" / "knn" / "base" / "seed_0" / "folds_0.jsonl"
    rows.parent.mkdir(parents=True)
    rows.touch()
    made = external_jobs(tmp_path)
    alone = made.contents(main)
    assert made.external_files(main) == [str(rows)]
    rows.with_name("notes.jsonl").touch()
    assert made.contents(main) == alone
    predictions = rows.with_name("folds_0.predictions.npz")
    predictions.touch()
    assert made.external_files(main) == [str(rows), str(predictions)]
    assert made.contents(main) != alone


def test_external_csv_is_an_input(tmp_path: Path) -> None:
    file = tmp_path / "others.csv"
    file.touch()
    assert external_jobs(file).external_files(Wildcards(study="main")) == [str(file)]


def test_the_content_of_a_custom_file_counts(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    mine = {"path": str(file), "target": "y", "task": "regression"}

    def fingerprint(content: str, time: int) -> str:
        file.write_text(content)
        os.utime(file, (time, time))
        made = jobs(custom_datasets={"mine": mine}, datasets=["mine", "yacht"])
        return made.dataset_fingerprint(Wildcards(dataset="mine"))

    original = fingerprint("x,y\n1,2\n", 10)
    assert fingerprint("x,y\n1,2\n", 20) == original
    assert fingerprint("x,y\n1,3\n", 0) != original


@pytest.mark.parametrize(("rows", "batch_rows"), [(90, None), (20_000, 4096)])
def test_requests_follow_a_custom_table(rows: int, batch_rows: int | None, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("x,y\n" + "1.5,2.5\n" * rows)
    mine = {"path": str(file), "target": "y", "task": "regression"}
    made = jobs(custom_datasets={"mine": mine}, datasets=["mine", "yacht"])
    (npt,) = [run for run in made.plan.runs.values() if run.key == "mine/npt/base"]
    assert npt.settings["batch_rows"] == batch_rows
    requested = made.memory(run("mine", "npt"), attempt=1)
    like_yacht = made.memory(run("yacht", "npt"), attempt=1)
    assert (requested <= like_yacht) == (rows == 90)


def test_limits_follow_the_forecast() -> None:
    made = shipped("workflow/configs/paper.yaml")
    mlp = run("concrete", "mlp")
    forecast = search_seconds(made.plan, made.plan.runs["concrete/mlp/base/seed_0/folds_0"])
    assert forecast is not None
    assert made.minutes(mlp, attempt=1) == pytest.approx(3 * forecast / 60, abs=1)
    assert made.minutes(mlp, attempt=2) == pytest.approx(6 * forecast / 60, abs=1)
    assert made.part_files(mlp) == []
    assert made.threads(mlp) == 1


def test_no_search_is_longer_than_the_longest_limit() -> None:
    """But for a fit of one thread, which cannot be divided."""
    made = shipped("workflow/configs/paper.yaml")
    beyond = limits.beyond_limits(made.plan)
    searches = [stem for stem in beyond if "/npt/" not in stem]
    assert searches == ["higgs/gradient_boosting/base/seed_0/folds_0"]
    longest = run("higgs", "catboost")
    assert len(made.part_files(longest)) == 12  # one for each fit
    assert made.threads(longest) > 1
    assert made.threads(run("higgs", "lightgbm")) == 1


def test_probe_limits_follow_their_passes() -> None:
    made = shipped("workflow/configs/paper.yaml")
    large = Wildcards(**run("higgs", "npt"), study="corruption")
    small = Wildcards(**run("protein", "npt"), study="corruption")
    assert made.probe_minutes(large, attempt=1) > made.probe_minutes(small, attempt=1)


def test_memory_grows_unless_the_training_left_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = jobs()
    once = made.memory(run("yacht", "npt"), attempt=1)
    assert made.memory(run("yacht", "npt"), attempt=2) == 2 * once
    checkpoint = Path(paths.run_checkpoint("yacht/npt/base/seed_0/folds_0"))
    checkpoint.parent.mkdir(parents=True)
    checkpoint.touch()
    assert made.memory(run("yacht", "npt"), attempt=2) == once


def test_page_follows_preset_and_scoring() -> None:
    base = jobs()
    assert jobs(preset="other").preset == "other"
    assert jobs(preset="other").page_contents != base.page_contents
    assert jobs(ranking="paper").page_contents != base.page_contents
    assert jobs(ranking="paper").scoring != base.scoring
    assert jobs(settings={"knn": {"grid": "quick"}}).page_contents == base.page_contents


def test_probe_is_repeated_when_its_options_change() -> None:
    def fingerprint(**keys: Any) -> str:
        settings = keys.pop("settings", {})
        study = {"kind": "deletion", "methods": ["npt"], **keys}
        made = jobs(studies={"probe": study}, settings=settings)
        return made.probe_fingerprint(Wildcards(run("yacht", "npt")))

    assert fingerprint() == fingerprint()
    assert fingerprint(max_test_rows=3) != fingerprint()
    assert fingerprint(options={"retries": 5}) != fingerprint()
    assert fingerprint(settings={"npt": {"updates": 7}}) != fingerprint()
    assert fingerprint(kind="attention") != fingerprint(kind="corruption")


def test_probe_reads_weights_where_there_are_any() -> None:
    made = jobs()
    stem = "yacht/npt/base/seed_0/folds_0"
    assert made.probed_files(run("yacht", "npt")) == [
        paths.run_rows(stem),
        paths.run_weights(stem),
        paths.run_predictions(stem),
    ]
    assert made.probed_files(run("yacht", "knn")) == [
        paths.run_rows("yacht/knn/base/seed_0/folds_0")
    ]


def test_targets_are_distinct() -> None:
    made = shipped("config.yaml")
    assert len(made.targets) == len(set(made.targets))
    assert paths.REPORT in made.targets


@pytest.mark.parametrize("kind", kinds())
def test_every_figure_and_table_has_a_caption(kind: str) -> None:
    made = jobs()
    labels = [made.report_labels(path, kind) for path in made.shown(kind)]
    labels = [label for label in labels if label]
    assert len(labels) == len(kinds()[kind].tables) + len(kinds()[kind].figures)
    for label in labels:
        assert (RULES / label["caption"]).read_text().strip()
        assert label["category"] == kinds()[kind].title


def test_memory_doubles_with_the_attempt() -> None:
    paper = shipped("workflow/configs/paper.yaml")
    small = run("yacht", "npt")
    large = run("protein", "npt")
    first = paper.memory(small, 1)
    assert paper.memory(large, 1) > 2 * first > 2 * 1000
    assert [paper.memory(small, attempt) for attempt in (2, 3)] == [2 * first, 4 * first]


def test_minutes_grow_with_the_operations() -> None:
    paper = shipped("workflow/configs/paper.yaml")
    small = run("yacht", "npt")
    assert 30 <= paper.minutes(small, 1) < paper.minutes(run("protein", "npt"), 1) <= 2880
    assert paper.minutes(small, 2) >= paper.minutes(small, 1)


def test_memory_covers_the_measured_peak() -> None:
    quick = shipped("results/reference/quick/config.yaml")
    rows = pd.read_csv(ROOT / "results/reference/quick/main.csv")
    for row in rows[rows["method"].isin(["npt", "npt_compact"])].itertuples():
        wildcards = run(str(row.dataset), str(row.method), str(row.fold), str(row.variant))
        requested = quick.memory(wildcards, 1)
        peak = float(row.peak_memory_mb)  # type: ignore[arg-type]
        assert peak < requested < 4 * peak


def test_memory_of_collecting_grows_with_the_rows_and_the_attempt() -> None:
    studies = {"main": {}, "again": {}}
    main = Wildcards(study="main")
    requested: list[tuple[int, int]] = []
    for seeds in ("0", "0-9999"):
        made = jobs(folds="0-9", methods=["knn"], seeds=seeds, studies=studies)
        assert made.study_memory(main, 2) == 2 * made.study_memory(main, 1)
        requested.append((made.study_memory(main, 1), made.report_memory(main, 1)))
    assert requested == [(500, 500), (2000, 3500)]
