"""The workflow is stopped or killed, and resumes to the same results."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.smoke.running import (
    ROOT,
    SMOKE,
    command,
    run,
    short_config,
    shown,
    smoke_config,
    step,
    step_command,
    step_here,
)

PATIENCE = 300  # seconds
STEM = "synthetic/npt/tuned/seed_0/folds_0"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    done = run(folder, config=short_config(folder))
    assert done.returncode == 0, done.stderr
    return folder


def begin(folder: Path, config: Path) -> subprocess.Popen[str]:
    """Start a run in a process group of its own."""
    arguments = command(folder, config=config)
    return subprocess.Popen(
        arguments,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def logs_of_runs(folder: Path) -> list[Path]:
    return list((folder / "results/logs/run").rglob("*.log"))


def test_a_run_that_is_killed_twice_resumes(finished: Path, tmp_path: Path) -> None:
    config = short_config(tmp_path)
    for kill_whole_group, least_jobs in ((True, 3), (False, 6)):
        process = begin(tmp_path, config)
        wait_until(lambda least=least_jobs: len(logs_of_runs(tmp_path)) >= least)
        if kill_whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.communicate()
    done = run(tmp_path, config=config)
    assert done.returncode == 0, done.stderr
    assert shown(tmp_path) == shown(finished)


def test_ctrl_c_stops_without_traceback(tmp_path: Path) -> None:
    settings = yaml.safe_load(SMOKE.read_text())["settings"]
    settings["npt"]["updates"] = 1_000_000
    changes = {"methods": ["npt"], "studies": {"main": {}}, "budget": None}
    config = smoke_config(tmp_path, settings=settings, **changes)
    process = begin(tmp_path, config)
    wait_until(lambda: len(list(tmp_path.rglob("*.metrics.csv"))) == 2)
    os.killpg(process.pid, signal.SIGINT)
    text, _ = process.communicate(timeout=PATIENCE)
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
    plan = (finished / "results/plan.json").read_text()
    for folder in (whole, killed):
        (folder / "results/data").mkdir(parents=True)
        shutil.copy(finished / "results/data/synthetic.arrow", folder / "results/data")
        longer = plan.replace('"updates":20', '"updates":150')
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


def test_second_run_in_a_folder_is_refused(tmp_path: Path) -> None:
    process = begin(tmp_path, SMOKE)
    lock = tmp_path / ".snakemake" / "npt.lock"
    wait_until(lambda: lock.exists() and logs_of_runs(tmp_path) != [])
    second = run(tmp_path)
    dry = run(tmp_path, "--dry-run")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert second.returncode != 0
    assert f"{tmp_path}: process {process.pid}" in second.stderr
    assert "Traceback" not in second.stderr
    assert dry.returncode == 0


def test_full_disk_is_one_line_and_leaves_nothing(finished: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a small disk needs root")
    disk = tmp_path / "results"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        shutil.copy(finished / "results/plan.json", disk)
        filler = (disk / "filler").open("wb", buffering=0)
        with filler, pytest.raises(OSError, match="No space"):
            while True:
                filler.write(b"0" * 4096)
        done = step(tmp_path, "prepare", "--dataset", "synthetic")
        assert done.returncode != 0
        assert "No space left on device" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert not list(disk.rglob("*.arrow*"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_error_in_the_configuration_is_one_line(tmp_path: Path) -> None:
    settings = yaml.safe_load(SMOKE.read_text())["settings"]
    settings["npt"]["widht"] = 8
    done = run(tmp_path, config=smoke_config(tmp_path, settings=settings))
    assert done.returncode != 0
    assert "did you mean 'width'?" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "results").exists()
