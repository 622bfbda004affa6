"""The workflow on a real Slurm of one node: equal results, and lost jobs return.

`make test-cluster` installs Debian's packages and runs this; elsewhere it is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.smoke.running import ROOT, command, run, short_config, shown

HERE = Path(__file__).parent
pytestmark = [
    pytest.mark.skipif(
        os.environ.get("NPT_TEST_CLUSTER") != "1",
        reason="runs with NPT_TEST_CLUSTER=1 (make test-cluster)",
    ),
    pytest.mark.skipif(
        shutil.which("slurmctld") is None,
        reason="Slurm is not installed (make test-cluster installs it)",
    ),
]
QUICK = [
    "--slurm-no-account",
    "--slurm-init-seconds-before-status-checks",
    "2",
    "--seconds-between-status-checks",
    "2",
]


@pytest.fixture(scope="module", autouse=True)
def slurm() -> Iterator[None]:
    subprocess.run([HERE / "slurm_up.sh"], check=True)
    yield
    subprocess.run(["scancel", "--user", "root"], check=False)
    subprocess.run([HERE / "slurm_down.sh"], check=True)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("local")
    done = run(folder, config=short_config(folder))
    assert done.returncode == 0, done.stderr
    return shown(folder)


def through(profile: str, folder: Path, *options: str) -> list[str]:
    words = command(folder, *options, "--latency-wait", "20", config=short_config(folder))
    return [word.replace("profiles/default", f"profiles/{profile}") for word in words]


def run_through(profile: str, folder: Path, *options: str) -> None:
    words = through(profile, folder, *options)
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def during(words: list[str], act: Callable[[], bool], log: Path) -> int:
    """Exit status of a command; `act` is called every half second until it returns true."""
    with log.open("w") as stream:
        process = subprocess.Popen(words, stdout=stream, stderr=subprocess.STDOUT, cwd=ROOT)
        done = False
        started = time.monotonic()
        while process.poll() is None:
            done = done or act()
            time.sleep(0.5)
            if time.monotonic() - started > 900:
                process.kill()
    assert done, log.read_text()
    return process.returncode


def jobs() -> dict[str, dict[str, str]]:
    """Slurm's facts of all jobs, finished ones included, by id."""
    text = subprocess.run(
        ["scontrol", "--oneliner", "show", "job"], capture_output=True, text=True
    ).stdout
    lines = [
        dict(re.findall(r"(\w+)=(\S*)", line)) | {"line": line}
        for line in text.splitlines()
        if "JobId=" in line
    ]
    return {line["JobId"]: line for line in lines}


def running(rule: str, known: set[str]) -> str | None:
    """Number of a running job of a rule that is not among the known."""
    for number, job in jobs().items():
        if number not in known and job["JobState"] == "RUNNING" and f"rule_{rule}" in job["line"]:
            return number
    return None


def test_same_results_and_gpus_for_trainings_alone(local: dict[str, bytes], tmp_path: Path) -> None:
    known = set(jobs())
    run_through("slurm", tmp_path, *QUICK)
    assert shown(tmp_path) == local
    submitted = [job for number, job in jobs().items() if number not in known]
    with_gpu = [job for job in submitted if "gres/gpu=1" in job["line"] or "gpu:1" in job["line"]]
    assert with_gpu and len(with_gpu) < len(submitted)
    assert all("rule_train" in job["line"] or "rule_probe" in job["line"] for job in with_gpu)


def trainings(folder: Path) -> list[int]:
    """Processes that train in a folder."""
    search = ["pgrep", "-f", "python -m workflow.steps.run"]
    numbers = subprocess.run(search, capture_output=True, text=True).stdout.split()
    processes: list[int] = []
    for number in numbers:
        if Path(f"/proc/{number}/cwd").resolve() == folder.resolve():
            processes.append(int(number))
    return processes


@pytest.mark.parametrize("how", ["cancelled", "killed"])
def test_lost_job_returns_with_more_memory(
    how: str, local: dict[str, bytes], tmp_path: Path
) -> None:
    known = set(jobs())
    lost: list[str] = []

    def lose() -> bool:
        number = running("train", known)
        if number is None:
            return False
        if how == "cancelled":
            subprocess.run(["scancel", number], check=True)
        else:
            processes = trainings(tmp_path)
            for process in processes:
                os.kill(process, signal.SIGKILL)
            if not processes:
                return False
        lost.append(number)
        return True

    status = during(through("slurm", tmp_path, *QUICK), lose, tmp_path / "log.txt")
    assert status == 0, (tmp_path / "log.txt").read_text()
    assert shown(tmp_path) == local
    after = {
        number: job
        for number, job in jobs().items()
        if number not in known and "rule_train" in job["line"]
    }
    first = int(re.findall(r"mem=(\d+)M", after[lost[0]]["line"])[0])
    most = max(
        int(amount) for job in after.values() for amount in re.findall(r"mem=(\d+)M", job["line"])
    )
    expected = {2 * first}
    if how == "cancelled":  # a training that had begun leaves a checkpoint, and needs no more
        expected.add(first)
    assert most in expected


def test_generic_scheduler_gives_the_same_results(local: dict[str, bytes], tmp_path: Path) -> None:
    run_through("generic", tmp_path, "--seconds-between-status-checks", "2")
    assert shown(tmp_path) == local
