"""Steps in forks of a process that has their libraries behave as in processes of their own."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.smoke.running import wait_until
from workflow.config.reading import read
from workflow.planning import kept, paths
from workflow.planning.plan import Plan
from workflow.runtime.step import FOLDER, library_of
from workflow.runtime.step_server import RUN
from workflow.steps import prepare

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="servers are for Linux")
PATIENCE = 60.0
LONG = {"width": 8, "layers": 2, "heads": 2, "updates": 10**6, "learning_rate": 0.01}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a plan: a baseline, and a training that takes hours."""
    folder = tmp_path_factory.mktemp("folder")
    draws = np.random.default_rng(0)
    table = pd.DataFrame(draws.normal(size=(60, 3)), columns=["a", "b", "y"])
    table.to_csv(folder / "table.csv", index=False)
    config = {
        "folds": 0,
        "custom_datasets": {"drawn": {"path": "table.csv", "target": "y", "task": "regression"}},
        "datasets": ["drawn"],
        "methods": ["constant", "npt"],
        "settings": {"npt": LONG},
        "studies": {"main": {}},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["prepare", "--dataset", "drawn"])
        Path(paths.RESULTS).mkdir()
        kept.keep(Plan.of(read(config)))
        prepare.main()
        yield folder


@contextmanager
def run_of(servers: Path) -> Iterator[Path]:
    """The folder of the servers of a run, which end with it."""
    servers.mkdir()
    with (servers / RUN).open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        patch.setenv(FOLDER, str(servers))
        yield servers
    wait_until(lambda: not servers.exists() or not any(servers.glob("*.socket")))


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Path]:
    """Servers of one test."""
    with run_of(tmp_path / "servers") as servers:
        yield servers


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[Path]:
    """Servers of all tests of a training, since torch is imported in seconds."""
    with run_of(folder / "shared") as servers:
        yield servers


def start(method: str, libraries: str = "numpy", *options: str) -> subprocess.Popen[str]:
    step = ["run", "--run", f"drawn/{method}/base/seed_0/folds_0", "--threads", "1", *options]
    command = [sys.executable, "-m", "workflow.runtime.step", libraries, *step]
    return subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, output


def test_a_fork_does_what_a_process_does(
    folder: Path, servers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked = [finish(start("constant")), finish(start("unknown"))]
    assert (servers / "none.socket").exists()
    rows = Path(paths.run_rows("drawn/constant/base/seed_0/folds_0"))
    of_fork = json.loads(rows.read_text())
    monkeypatch.delenv(FOLDER)
    assert forked == [finish(start("constant")), finish(start("unknown"))]
    of_process = json.loads(rows.read_text())
    for name in ("fit_seconds", "predict_seconds", "peak_memory_mb"):
        assert of_fork.pop(name) >= 0
        del of_process[name]
    assert of_fork == of_process
    assert [code for code, _ in forked] == [0, 1]


def training_of(servers: Path) -> int:
    """The process that a server has forked."""
    children: list[str] = []

    def found() -> bool:
        for tasks in Path("/proc").glob("[0-9]*/task/*/children"):
            try:
                command = (tasks.parents[2] / "cmdline").read_bytes()
                environment = (tasks.parents[2] / "environ").read_bytes()
            except OSError:
                continue
            if b"step_server" in command and os.fsencode(servers) in environment:
                children.extend(tasks.read_text().split())
        return bool(children)

    wait_until(found)
    return int(children[0])


def is_alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def begin_training(folder: Path, servers: Path) -> tuple[subprocess.Popen[str], int]:
    metrics = folder / paths.run_metrics("drawn/npt/base/seed_0/folds_0")
    metrics.unlink(missing_ok=True)
    process = start("npt", "torch")
    wait_until(lambda: metrics.exists())
    return process, training_of(servers)


def test_interrupts_reach_the_fork(folder: Path, shared: Path) -> None:
    process, training = begin_training(folder, shared)
    os.killpg(process.pid, signal.SIGINT)
    code, output = finish(process)
    assert not is_alive(training)
    assert "Traceback" not in output
    assert code == 128 + signal.SIGINT


def test_a_server_outlives_the_step_that_is_terminated_with_it(folder: Path, shared: Path) -> None:
    """As when a machine shuts down: the training writes its checkpoint first."""
    process, training = begin_training(folder, shared)
    server = server_of(training)
    for terminated in (server, training, process.pid):
        os.kill(terminated, signal.SIGTERM)
    code, output = finish(process)
    assert code == 128 + signal.SIGTERM
    assert "Traceback" not in output
    assert not is_alive(training)
    assert is_alive(server)
    assert (folder / paths.run_checkpoint("drawn/npt/base/seed_0/folds_0")).exists()


def test_a_fork_is_killed_with_the_process_that_asked(folder: Path, shared: Path) -> None:
    process, training = begin_training(folder, shared)
    process.kill()
    process.communicate()
    wait_until(lambda: not is_alive(training))


def test_a_killed_fork_kills_the_process_that_asked(folder: Path, shared: Path) -> None:
    process, training = begin_training(folder, shared)
    os.kill(training, signal.SIGKILL)
    code, _ = finish(process)
    assert code == -signal.SIGKILL


def server_of(process: int) -> int:
    status = Path(f"/proc/{process}/stat").read_text()
    return int(status.rpartition(")")[2].split()[1])


def test_without_its_server_a_step_fails_and_the_next_starts_as_usual(
    folder: Path, shared: Path
) -> None:
    process, training = begin_training(folder, shared)
    os.kill(server_of(training), signal.SIGKILL)
    code, output = finish(process)
    assert (code, output.splitlines()[-1]) == (
        1,
        "error: the process that had forked this step was killed; run again to resume",
    )
    wait_until(lambda: not is_alive(training))
    finish(start("constant", "torch"))
    assert Path(paths.run_rows("drawn/constant/base/seed_0/folds_0")).exists()
    (shared / "torch.socket").unlink()


def test_changed_code_is_not_run_by_an_older_import(
    folder: Path, servers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as the server can tell: it compares the times of the files."""
    first, _ = finish(start("constant"))
    assert first == 0
    script = (
        "from workflow.runtime import step_server\n"
        "times = iter([1, 2, 3, 4])\n"
        "step_server.newest_source = lambda: next(times)\n"
        "step_server.main()\n"
    )
    server = subprocess.Popen([sys.executable, "-c", script, "scikit-learn"])
    wait_until(lambda: (servers / "scikit-learn.socket").exists())
    rows = Path(paths.run_rows("drawn/constant/base/seed_0/folds_0"))
    rows.unlink()
    code, _ = finish(start("constant", "scikit-learn"))
    assert code == 0
    assert rows.exists()
    assert not any(Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split())
    server.kill()
    server.wait()
    (servers / "scikit-learn.socket").unlink()


def test_a_step_with_threads_starts_as_usual(folder: Path, servers: Path) -> None:
    step = ["run", "--run", "drawn/constant/base/seed_0/folds_0", "--threads", "2"]
    subprocess.run([sys.executable, "-m", "workflow.runtime.step", "none", *step], check=True)
    assert sorted(path.name for path in servers.iterdir()) == [RUN]


def test_a_server_that_cannot_start_is_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = folder / ("too_long_for_the_name_of_a_socket" * 4)
    servers.mkdir()
    monkeypatch.setenv(FOLDER, str(servers))
    code, _ = finish(start("constant"))
    assert code == 0
    assert (servers / "none.failed").exists()
    started = time.monotonic()
    finish(start("constant"))
    assert time.monotonic() - started < PATIENCE / 2


def test_a_step_does_not_wait_for_a_run_that_has_ended(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = tmp_path / "servers"
    servers.mkdir()
    (servers / "none.starting").touch()
    monkeypatch.setenv(FOLDER, str(servers))
    process = start("constant")
    time.sleep(0.5)
    assert process.poll() is None
    shutil.rmtree(servers)
    started = time.monotonic()
    code, _ = finish(process)
    assert code == 0
    assert time.monotonic() - started < PATIENCE / 2


@pytest.mark.parametrize(
    ("libraries", "library"),
    [("gpytorch,torch", "torch"), ("scikit-learn,scipy", "scikit-learn"), ("catboost", "none")],
)
def test_servers_are_by_library(libraries: str, library: str) -> None:
    assert library_of(libraries) == library
