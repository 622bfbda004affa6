"""The whole workflow on a generated table."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.smoke.running import (
    ROOT,
    SHORT,
    SMOKE,
    run,
    run_to_end,
    short_config,
    shown,
    smoke_config,
    step_here,
)
from workflow.results.study_file import read_study
from workflow.studies import kinds

PAPER = "https://arxiv.org/abs/2106.02584"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    run_to_end(folder)
    return folder


def test_report_shows_every_study(finished: Path) -> None:
    page = finished / "results/report/index.html"
    text = html.unescape(page.read_text())
    studies = yaml.safe_load(SMOKE.read_text())["studies"]
    for study in studies.values():
        assert kinds()[study.get("kind", "benchmark")].title in text
    for title in ("NPT (tuned)", "(without_datapoints)", "k-NN", "Random Forest", "Synthetic*"):
        assert title in text
    remote = re.findall(r'(?:src|href)="((?:https?:)?//[^"]*)"', text)
    assert set(remote) <= {PAPER}
    for link in re.findall(r'href="([^"#]+)"', text):
        if not link.startswith(("data:", PAPER)):
            assert (page.parent / link).exists(), link


def test_tables_and_figures_have_all_formats(finished: Path) -> None:
    endings = {"tables": {".csv", ".tex"}, "figures": {".svg", ".pdf", ".png"}}
    for folder, expected in endings.items():
        formats: dict[str, set[str]] = {}
        for path in (finished / "results" / folder).glob("*/[!.]*"):
            assert path.stat().st_size > 0, path
            formats.setdefault(str(path.with_suffix("")), set()).add(path.suffix)
        assert formats
        assert all(suffixes == expected for suffixes in formats.values())
    assert r"\toprule" in (finished / "results/tables/main/metrics.tex").read_text()


def test_the_same_rows_give_the_same_report(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    shutil.rmtree(folder / "results/report")
    step_here(folder, "report")
    for path in (finished / "results/report").iterdir():
        copy = folder / "results/report" / path.name
        assert path.read_bytes() == copy.read_bytes(), path.name


def test_snakemake_report_has_figures(finished: Path, tmp_path: Path) -> None:
    run_to_end(finished, "--report", str(tmp_path / "report.html"))
    text = (tmp_path / "report.html").read_text()
    assert "critical_difference" in text


def test_trials_of_a_search_are_kept(finished: Path) -> None:
    run_folder = finished / "results/runs/synthetic/knn/base/seed_0"
    trials = pd.read_parquet(run_folder / "folds_0-1.scores.parquet")
    rows = read_study(finished / "results/studies/main.csv")
    rows = rows[rows["method"] == "knn"].set_index("fold")
    assert list(trials.groupby("fold").size()) == [20, 20]
    for fold, fold_trials in trials.groupby("fold"):
        best = fold_trials.loc[fold_trials["validation_loss"].idxmin()]
        assert best["validation_loss"] == pytest.approx(rows.loc[fold, "validation_loss"])
        assert json.loads(rows.loc[fold, "chosen"])["n_neighbors"] == best["n_neighbors"]
    assert list(rows["configurations"]) == [20, 20]
    assert list(rows["fits"]) == [2, 2]


def test_training_leaves_metrics_and_no_checkpoint(finished: Path) -> None:
    folder = finished / "results/runs/synthetic/npt/base/seed_0"
    names = {path.name.removeprefix("folds_0") for path in folder.glob("folds_0*")}
    assert names == {".jsonl", ".metrics.csv", ".predictions.npz", ".pt"}
    lines = (folder / "folds_0.metrics.csv").read_text().splitlines()
    assert len(lines) == 1 + 20 / 5


def test_second_run_beside_other_packages_has_nothing_to_do(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packages of the same name, which come first on the path."""
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines/__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    done = run_to_end(finished)
    assert "Nothing to be done" in done.stdout + done.stderr


def test_changed_setting_reruns_only_its_method(finished: Path, tmp_path: Path) -> None:
    settings = yaml.safe_load(SMOKE.read_text())["settings"]
    settings["knn"] = {"grid": {"n_neighbors": [3]}}
    done = run(finished, "--dry-run", config=smoke_config(tmp_path, settings=settings))
    text = done.stdout + done.stderr
    assert re.search(r"^fit +1$", text, re.MULTILINE)
    assert not re.search(r"^train +\d", text, re.MULTILINE)


def test_failed_job_is_named_and_lost_files_are_rebuilt(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    weights = folder / "results/runs/synthetic/npt/tuned/seed_0/folds_0.pt"
    weights.write_bytes(weights.read_bytes()[:100])
    config = short_config(tmp_path)
    damaged = run(folder, config=config)
    assert damaged.returncode != 0
    assert "failed: probe synthetic/npt/tuned/seed_0/folds_0" in damaged.stderr
    assert "error: results/runs/synthetic/npt/tuned/seed_0/folds_0.pt" in damaged.stderr
    assert "run again to resume" in damaged.stdout
    assert "Traceback" not in damaged.stderr
    weights.unlink()
    shutil.rmtree(folder / "results/tables")
    shutil.rmtree(folder / "results/figures")
    (folder / "results/runs/synthetic/knn/base/seed_0/folds_0-1.jsonl").unlink()
    mended = run_to_end(folder, config=config)
    assert "fit synthetic/knn/base/seed_0/folds_0-1" in mended.stdout
    lines = mended.stdout.splitlines()
    assert any("depend on other rows?" in line for line in lines[-6:])
    assert lines[-1] == f"report: {(folder / 'results/report/index.html').as_uri()}"
    rebuilt = shown(folder)
    for name, content in shown(finished).items():
        if name.startswith(SHORT):
            assert rebuilt[name] == content, name
