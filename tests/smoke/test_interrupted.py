"""The workflow is killed, or stopped, and goes on to the same results."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from tests.smoke.running import SMOKE, command, run, short, tables


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    done = run(folder, config=short(folder))
    assert done.returncode == 0, done.stderr
    assert {"main.ranks.csv", "main.ranks.svg", "corruption.corruption.csv"} <= set(tables(folder))
    return folder


def test_killed_in_the_middle_it_goes_on_to_the_same_tables(finished: Path, tmp_path: Path) -> None:
    begun = command(tmp_path, config=short(tmp_path))
    process = subprocess.Popen(
        begun, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(8)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = run(tmp_path, config=tmp_path / "short.yaml")
    assert done.returncode == 0, done.stderr
    assert tables(tmp_path) == tables(finished)


def test_killing_snakemake_alone_leaves_no_lock_behind(finished: Path, tmp_path: Path) -> None:
    begun = command(tmp_path, config=short(tmp_path))
    process = subprocess.Popen(
        begun, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(6)
    process.kill()
    process.wait()
    done = run(tmp_path, config=tmp_path / "short.yaml")
    assert done.returncode == 0, done.stderr
    assert tables(tmp_path) == tables(finished)


def test_ctrl_c_in_the_middle_of_training_is_a_clean_stop(tmp_path: Path) -> None:
    endless = yaml.safe_load(SMOKE.read_text())
    endless |= {"methods": ["npt"], "studies": {"main": {}}, "budget": None}
    endless["settings"] = {"npt": {**endless["settings"]["npt"], "updates": 1_000_000}}
    (tmp_path / "endless.yaml").write_text(yaml.safe_dump(endless))
    process = subprocess.Popen(
        command(tmp_path, config=tmp_path / "endless.yaml"),
        start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    logs = tmp_path / "results" / "logs" / "train"
    while len(list(logs.rglob("*.log"))) < 2:
        assert process.poll() is None
        time.sleep(0.1)
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Traceback" not in text + "".join(path.read_text() for path in logs.rglob("*.log"))
    assert not list((tmp_path / "results" / "runs").rglob("*.jsonl*"))
    assert "announce" not in text
    assert "no study has a result yet" not in text  # nobody who stops a run waits for a page of it
