"""The whole workflow on a generated table: to the end, again, after kills, and with mistakes in what it is given."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.smoke.running import ROOT, SMOKE, command, run, short, tables


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert str(folder / "results" / "report" / "index.html") in done.stdout + done.stderr
    return folder


def test_it_ends_with_tables_figures_and_one_page(finished: Path) -> None:
    page = (finished / "results/report/index.html").read_text()
    for text in (
        "NPT",
        "k-NN",
        "Random Forest",
        "NPT (without_datapoints)",
        "NPT (tuned)",
        "Do models use other datapoints?",
        "How much of the skill comes from other datapoints?",
        "Which datapoints does a prediction need?",
        "Whom do the heads look at?",
        "What does each part of NPT contribute?",
        "Synthetic*",
        "smoke",
    ):
        assert text in page
    assert re.findall(r'(?:src|href)="((?:https?:)?//[^"]*)"', page) == [
        "https://arxiv.org/abs/2106.02584"
    ]  # to click on
    assert {
        "main.ranks.csv",
        "main.metrics.md",
        "corruption.corruption.csv",
        "main.ranks.svg",
    } <= set(tables(finished))
    for link in re.findall(r'href="([^"#]+)"', page):
        assert (
            link.startswith(("data:", "https://arxiv.org/"))
            or (finished / "results/report" / link).exists()
        ), link


def test_every_table_and_figure_has_all_its_formats(finished: Path) -> None:
    endings = {"tables": {"csv", "md", "tex", "html"}, "figures": {"svg", "pdf", "png"}}
    for folder, expected in endings.items():
        found: dict[str, set[str]] = {}
        for path in (finished / "results" / folder).iterdir():
            assert path.stat().st_size > 0, path
            found.setdefault(path.stem, set()).add(path.suffix[1:])
        assert found
        assert {stem: endings for stem, endings in found.items() if endings != expected} == {}
    assert r"\toprule" in (finished / "results/tables/main.metrics.tex").read_text()


def test_made_again_from_the_same_rows_every_table_figure_and_the_page_have_the_same_bytes(
    finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    shutil.rmtree(folder / "results/tables")
    shutil.rmtree(folder / "results/figures")
    assert run(folder).returncode == 0
    for kind in ("tables", "figures", "report"):
        for path in (finished / "results" / kind).iterdir():
            assert path.read_bytes() == (folder / "results" / kind / path.name).read_bytes(), (
                path.name
            )


def test_snakemake_s_own_report_has_every_question_with_captions(
    finished: Path, tmp_path: Path
) -> None:
    made = run(finished, "--report", str(tmp_path / "report.html"))
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "report.html").read_text()
    for expected in (
        "How good are the methods?",
        "Whom do the heads look at?",
        "Mean rank of each method over",
        "critical difference",
    ):
        assert expected in text


def test_every_score_of_a_search_is_kept_and_its_cost_is_shown(finished: Path) -> None:
    scores = pd.read_parquet(finished / "results/runs/synthetic/knn/base/0-1.scores.parquet")
    rows = (
        pd.read_csv(finished / "results/studies/main.csv")
        .query("method == 'knn'")
        .set_index("fold")
    )
    assert list(scores.groupby("fold").size()) == [20, 20]
    for fold, tried in scores.groupby("fold"):
        best = tried.loc[tried["validation_loss"].idxmin()]
        assert best["validation_loss"] == pytest.approx(rows.loc[fold, "validation_loss"])
        assert json.loads(rows.loc[fold, "chosen"])["n_neighbors"] == best["n_neighbors"]
        assert set(tried["fit"]) == {1, 2}
    cost = pd.read_csv(finished / "results/tables/main.cost.csv").set_index("method")
    assert list(cost.loc["knn", ["grid", "configurations", "models", "fits"]]) == [
        20,
        20,
        20,
        2,
    ]
    assert list(cost.loc["random_forest", ["configurations", "fits"]]) == [1, 1]
    assert list(cost.loc["npt", ["configurations", "fits"]]) == [2, 2]
    assert (cost[["search_seconds", "predict_seconds", "peak_memory_mb"]] > 0).all(axis=None)
    assert "20 of 20" in (finished / "results/tables/main.cost.md").read_text()


def test_tuning_shows_the_better_of_two_configurations_and_leaves_metrics_but_no_state(
    finished: Path,
) -> None:
    rows = pd.read_csv(finished / "results/studies/main.csv").query("method == 'npt'")
    losses = {}
    for variant in ("base", "trial_01"):
        for fold in (0, 1):
            run = finished / f"results/runs/synthetic/npt/{variant}/{fold}.jsonl"
            losses[fold, variant] = json.loads(run.read_text())["validation_loss"]
            assert len((run.with_suffix(".metrics.csv")).read_text().splitlines()) == 1 + 20 / 5
            assert not run.with_suffix(".checkpoint").exists()
    assert list(rows["variant"]) == ["tuned", "tuned"]
    for row in rows.itertuples():
        chosen = json.loads(row.chosen)["configuration"]
        assert (
            row.validation_loss
            == losses[row.fold, chosen]
            == min(losses[row.fold, v] for v in ("base", "trial_01"))
        )
        assert row.fits == 2


def test_a_second_run_has_nothing_to_do(finished: Path) -> None:
    started = time.monotonic()
    again = run(finished)
    assert again.returncode == 0
    assert "Nothing to be done" in again.stdout + again.stderr
    assert time.monotonic() - started < 60


def test_a_change_of_one_setting_reruns_only_what_it_affects(
    finished: Path, tmp_path: Path
) -> None:
    changed = yaml.safe_load(SMOKE.read_text())
    changed["settings"]["knn"] = {"grid": {"n_neighbors": [3]}}
    (tmp_path / "changed.yaml").write_text(yaml.safe_dump(changed))
    planned = run(finished, "-n", config=tmp_path / "changed.yaml")
    text = planned.stdout + planned.stderr
    assert re.search(r"^fit +1$", text, re.MULTILINE)
    assert not re.search(r"^train +\d", text, re.MULTILINE)


def test_damaged_weights_are_named_and_what_is_lost_is_made_anew(
    finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    weights = folder / "results/runs/synthetic/npt/base/0.pt"
    weights.write_bytes(weights.read_bytes()[:100])
    config = short(tmp_path)
    damaged = run(folder, config=config)
    assert damaged.returncode != 0
    assert "error: results/runs/synthetic/npt/base/0.pt: not this model's weights" in damaged.stderr
    assert "Traceback" not in damaged.stderr
    interim = folder / "results/interim/report/index.html"
    assert f"a page of the others, with the reasons: {interim}" in damaged.stdout
    page = interim.read_text()
    assert (
        "corruption: npt (base) on synthetic, fold 0: results/runs/synthetic/npt/base/0.pt: not this model"
        in page
    )
    for link in re.findall(r'href="([^"#]+)"', page):
        assert (
            link.startswith(("data:", "https://arxiv.org/")) or (interim.parent / link).exists()
        ), link
    weights.unlink()
    (folder / "results/tables/main.ranks.md").unlink()
    (folder / "results/runs/synthetic/knn/base/0-1.jsonl").unlink()
    assert run(folder, config=config).returncode == 0
    assert tables(folder) == tables(finished)
    assert not interim.exists()
    planned = run(folder, "-n", config=config)
    assert "Nothing to be done" in planned.stdout + planned.stderr


def test_a_training_killed_in_the_middle_goes_on_where_it_was(
    finished: Path, tmp_path: Path
) -> None:
    settings = {**yaml.safe_load(SMOKE.read_text())["settings"]["npt"], "updates": 300}
    data = finished / "results/data/synthetic.arrow"

    def step(place: Path) -> list[str]:
        outputs = {
            "rows": "0.jsonl",
            "predictions": "0.predictions.npz",
            "weights": "0.pt",
            "log": "0.log",
        }
        options = [
            part for name, file in outputs.items() for part in (f"--{name}", str(place / file))
        ]
        run = [
            "--dataset",
            "synthetic",
            "--method",
            "npt",
            "--folds",
            "0",
            "--fingerprint",
            "f",
            "--data",
            str(data),
        ]
        return [
            sys.executable,
            "-m",
            "workflow.steps.run",
            *run,
            "--settings",
            json.dumps(settings),
            *options,
        ]

    subprocess.run(step(tmp_path / "whole"), check=True, timeout=120, cwd=ROOT)
    often = [*step(tmp_path / "killed"), "--checkpoint-minutes", "0"]
    process, state = subprocess.Popen(often, cwd=ROOT), tmp_path / "killed/0.checkpoint"
    deadline = time.monotonic() + 60
    while not state.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert state.exists()
    assert not (tmp_path / "killed/0.jsonl").exists()
    subprocess.run(often, check=True, timeout=120, cwd=ROOT)
    assert sorted(path.name for path in (tmp_path / "killed").iterdir()) == [
        "0.jsonl", "0.log", "0.metrics.csv", "0.predictions.npz", "0.pt",
    ]  # fmt: skip
    for file in ("0.predictions.npz", "0.pt"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_ctrl_c_while_a_step_is_loading_prints_nothing() -> None:
    code = "import sys; sys.argv[0] = '-m'; import workflow.steps, os, signal; os.kill(os.getpid(), signal.SIGINT); print('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == -signal.SIGINT
    assert done.stdout + done.stderr == ""


def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command(tmp_path),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    lock = tmp_path / ".snakemake" / "npt.lock"
    while not (lock.exists() and lock.read_text()):
        time.sleep(0.1)
    second, dry = run(tmp_path), run(tmp_path, "-n")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert second.returncode != 0
    assert "another run" in second.stderr
    assert "Traceback" not in second.stderr
    assert dry.returncode == 0


def test_a_mistake_in_the_configuration_is_one_line(tmp_path: Path) -> None:
    wrong = yaml.safe_load(SMOKE.read_text())
    wrong["settings"]["npt"]["widht"] = 8
    (tmp_path / "wrong.yaml").write_text(yaml.safe_dump(wrong))
    done = run(tmp_path, config=tmp_path / "wrong.yaml")
    assert done.returncode != 0
    assert "did you mean 'width'?" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    (tmp_path / "wrong.yaml").write_text(SMOKE.read_text() + "\nseeds: 3\n")
    twice = run(tmp_path, "-n", config=tmp_path / "wrong.yaml")
    assert twice.returncode != 0
    assert "key 'folds' stands twice in its block" in twice.stderr
    assert not (tmp_path / "results").exists()


def test_a_full_disk_is_one_line_and_leaves_nothing_half(tmp_path: Path, finished: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a small disk needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True
    ).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        (disk / "filler").write_bytes(b"0" * (15 * 4096))
        step = [
            sys.executable,
            "-m",
            "workflow.steps.prepare",
            "--dataset",
            "synthetic",
            "--downloads",
            str(disk / "raw"),
        ]
        done = subprocess.run(
            [*step, "--output", str(disk / "data.arrow")],
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        assert done.returncode != 0
        assert "No space left on device" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert sorted(path.name for path in disk.iterdir()) == ["filler"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_seed_that_is_no_fold_is_named_on_the_terminal_and_in_the_log(
    finished: Path, tmp_path: Path
) -> None:
    data, log = finished / "results" / "data" / "synthetic.arrow", tmp_path / "logs" / "log"
    step = [
        sys.executable,
        "-m",
        "workflow.steps.run",
        "--dataset",
        "synthetic",
        "--method",
        "knn",
        "--folds",
        "11",
    ]
    paths = [
        "--data",
        str(data),
        "--rows",
        str(tmp_path / "r"),
        "--predictions",
        str(tmp_path / "p"),
        "--log",
        str(log),
    ]
    done = subprocess.run(
        [*step, "--fingerprint", "x", *paths], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 1
    assert (
        done.stderr
        == "error: --folds: 11 is not a fold of synthetic; allowed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9\n"
    )
    assert log.read_text() == done.stderr
