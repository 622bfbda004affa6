"""The workflow is stopped or killed, and resumes to the same results."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from npt.checksum import without_checksum
from tests.smoke.running import (
    ROOT,
    SMOKE,
    TIMEOUT,
    begin,
    run,
    run_to_end,
    shortest_config,
    shown,
    smoke_config,
    step,
    step_command,
    step_here,
    wait_until,
)

STEM = "synthetic/npt/tuned/seed_0/folds_0"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    run_to_end(folder, config=shortest_config(folder))
    return folder


def logs_of_runs(folder: Path) -> list[Path]:
    return list((folder / "results/logs/run").rglob("*.log"))


def test_a_run_that_is_killed_twice_resumes(finished: Path, tmp_path: Path) -> None:
    config = shortest_config(tmp_path)
    for kill_whole_group, least_jobs in ((True, 2), (False, 3)):
        process = begin(tmp_path, config)
        wait_until(lambda least=least_jobs: len(logs_of_runs(tmp_path)) >= least)
        if kill_whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.communicate()
    run_to_end(tmp_path, config=config)
    assert shown(tmp_path) == shown(finished)


def test_ctrl_c_stops_a_run_beside_which_no_other_begins(tmp_path: Path) -> None:
    settings = yaml.safe_load(SMOKE.read_text())["settings"]
    settings["npt"]["updates"] = 1_000_000
    changes = {"methods": ["npt"], "studies": {"main": {}}, "budget": None}
    config = smoke_config(tmp_path, settings=settings, **changes)
    process = begin(tmp_path, config)
    wait_until(lambda: len(list(tmp_path.rglob("*.metrics.csv"))) == 2)
    second = run(tmp_path, config=config)
    dry = run(tmp_path, "--dry-run", config=config)
    os.killpg(process.pid, signal.SIGINT)
    text, _ = process.communicate(timeout=TIMEOUT)
    assert second.returncode != 0
    assert f"{tmp_path}: another run" in second.stderr
    assert "Traceback" not in second.stderr
    assert dry.returncode == 0
    assert process.returncode != 0
    for path in logs_of_runs(tmp_path):
        text += path.read_text()
    assert "Traceback" not in text
    assert not list((tmp_path / "results/runs").rglob("*.jsonl"))
    assert "no study has a result yet" not in text


def test_ctrl_c_while_loading_prints_nothing() -> None:
    code = (
        "import sys; sys.argv[0] = '-m'; import workflow.steps, os, signal; "
        "os.kill(os.getpid(), signal.SIGINT); print('alive')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == -signal.SIGINT
    assert done.stdout + done.stderr == ""


def test_killed_training_resumes_bit_identically(finished: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    plan = without_checksum((finished / "results/plan.json").read_text())
    for folder in (whole, killed):
        (folder / "results/data").mkdir(parents=True)
        shutil.copy(finished / "results/data/synthetic.arrow", folder / "results/data")
        longer = plan.replace('"updates": 20', '"updates": 150')
        (folder / "results/plan.json").write_text(longer)
    step_here(whole, "run", "--run", STEM)
    often = ("--run", STEM, "--checkpoint-minutes", "0")
    process = subprocess.Popen(step_command("run", *often), cwd=killed)
    runs = killed / "results/runs"
    wait_until((runs / f"{STEM}.checkpoint").exists)
    process.kill()
    process.wait()
    assert not (runs / f"{STEM}.jsonl").exists()
    assert step(killed, "run", *often).returncode == 0
    assert not (runs / f"{STEM}.checkpoint").exists()
    for ending in (".predictions.npz", ".pt"):
        resumed = (runs / f"{STEM}{ending}").read_bytes()
        assert resumed == (whole / "results/runs" / f"{STEM}{ending}").read_bytes()
