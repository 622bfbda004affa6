"""Steps in forks of a process that has their libraries behave as in processes of their own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.smoke.running import state_of, wait_until
from tests.workflow.tables import DATASETS, write_random_table
from workflow.config.reading import read
from workflow.planning import kept, paths
from workflow.planning.plan import Plan
from workflow.runtime import step_server
from workflow.runtime.step import SOCKET
from workflow.steps import prepare

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="servers are for Linux")
PATIENCE = 300
Server = subprocess.Popen[bytes]
LONG = {"width": 8, "layers": 2, "heads": 2, "updates": 10**6, "learning_rate": 0.01}
CONSTANT = "random/constant/base/seed_0/folds_0"
NPT = "random/npt/base/seed_0/folds_0"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder with a plan: a baseline, and a training that takes hours."""
    settings = {"npt": LONG}
    config = {**DATASETS, "methods": ["constant", "npt"], "settings": settings}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("run"))
        write_random_table()
        paths.RESULTS.mkdir()
        Path(SOCKET).parent.mkdir()
        kept.keep(Plan.from_config(read({**config, "studies": {"main": {}}})))
        patch.setattr(sys, "argv", ["prepare", "--dataset", "random"])
        prepare.main()
        yield


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The server of a run."""
    step_server.offer([])
    process = step_server._started.pop()
    yield process
    assert process.stdin is not None
    process.stdin.close()
    process.wait(PATIENCE)


def start(stem: str, *options: str) -> subprocess.Popen[str]:
    step = ["run", "--run", stem, "--threads", "1", *options]
    command = [sys.executable, "-m", "workflow.runtime.step", *step]
    return subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, output


def descendants_of(process: int) -> list[int]:
    """Its children, their children and so on."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    processes = [int(child) for child in children]
    for child in list(processes):
        processes += descendants_of(child)
    return processes


def begin_training(server: Server) -> tuple[subprocess.Popen[str], int]:
    """The process that asks, and the fork that trains."""
    paths.run_metrics(NPT).unlink(missing_ok=True)
    process = start(NPT)
    wait_until(paths.run_metrics(NPT).exists)
    _, training = descendants_of(server.pid)
    return process, training


def test_signals_reach_the_fork(server: Server) -> None:
    process, training = begin_training(server)
    os.killpg(process.pid, signal.SIGTERM)
    code, output = finish(process)
    assert state_of(training) == "gone"
    assert "Traceback" not in output
    assert code == 128 + signal.SIGTERM
    assert paths.run_checkpoint(NPT).exists()


def test_a_fork_and_the_process_that_asked_die_together(server: Server) -> None:
    process, training = begin_training(server)
    process.kill()
    process.communicate()
    wait_until(lambda: state_of(training) == "gone")
    process, training = begin_training(server)
    os.kill(training, signal.SIGKILL)
    code, _ = finish(process)
    assert code == -signal.SIGKILL


def test_a_fork_does_what_a_process_does(server: Server) -> None:
    rows = paths.run_rows(CONSTANT)
    forked = [finish(start(CONSTANT)), finish(start("unknown"))]
    row_of_fork = json.loads(rows.read_text())
    rows.unlink()
    process, training = begin_training(server)
    server.kill()
    server.wait()
    assert state_of(training) in "RS"
    os.kill(process.pid, signal.SIGTERM)
    code, _ = finish(process)
    assert code == 128 + signal.SIGTERM
    assert forked == [finish(start(CONSTANT)), finish(start("unknown"))]
    row_of_process = json.loads(rows.read_text())
    for name in ("fit_seconds", "predict_seconds", "peak_memory_mb", "crc32"):
        del row_of_fork[name]
        del row_of_process[name]
    assert row_of_fork == row_of_process
    assert [code for code, _ in forked] == [0, 1]


def test_numpy_is_imported_after_the_limit_of_its_threads() -> None:
    code = "import sys, workflow.runtime.step_server; print(*sys.modules)"
    modules = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert "workflow.runtime.command" in modules
    assert "numpy" not in modules
