"""Before and after a run of Snakemake."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.scheduling.job_scheduler import JobRateLimiter
from snakemake.settings.types import MaxJobsPerTimespan

from npt.errors import UserError
from workflow.config.reading import parse
from workflow.planning import paths
from workflow.runtime import hooks
from workflow.runtime.command import execute
from workflow.runtime.folder_lock import claim

CONFIG = {"folds": 0, "datasets": ["yacht"], "methods": ["knn"], "studies": {"main": {}}}


def snakemake(
    *,
    dry_run: bool,
    is_main_process: bool = True,
    local_exec: bool = False,
    files: tuple[str, ...] = ("mine.yaml",),
) -> Any:
    names = ("verbose", "printshellcmds", "debug_dag")
    settings = SimpleNamespace(dryrun=dry_run, quiet=None, **dict.fromkeys(names, False))
    return SimpleNamespace(
        overwrite_configfiles=files,
        is_main_process=is_main_process,
        output_settings=settings,
        local_exec=local_exec,
        scheduler=SimpleNamespace(job_rate_limiter=JobRateLimiter(MaxJobsPerTimespan(100))),
    )


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").touch()
    monkeypatch.setattr("logging.raiseExceptions", True)


def test_a_job_of_a_cluster_has_the_plan_of_its_run() -> None:
    """Whatever was edited since the run began."""
    Path(paths.RESULTS).mkdir()
    begun = hooks.plan_jobs(CONFIG, snakemake(dry_run=True))
    assert not Path(paths.PLAN).exists()
    hooks.started(begun, CONFIG, snakemake(dry_run=False))
    edited = {**CONFIG, "methods": ["linear"], "folds": "no number"}
    job = hooks.plan_jobs(edited, snakemake(dry_run=False, is_main_process=False))
    assert job.plan == begun.plan
    assert parse(Path(paths.CONFIG)) == CONFIG


@pytest.mark.parametrize("program", [["snakemake"], ["snakemake", "--no-hooks"]])
def test_plan_is_kept_early_without_hooks(
    program: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(paths.RESULTS).mkdir()
    monkeypatch.setattr("sys.argv", program)
    hooks.plan_jobs(CONFIG, snakemake(dry_run=False))
    assert Path(paths.PLAN).exists() == ("--no-hooks" in program)


def test_invalid_configuration_ends_in_one_line() -> None:
    with pytest.raises(SystemExit) as error:
        hooks.plan_jobs({**CONFIG, "folds": "x"}, snakemake(dry_run=True))
    assert str(error.value).startswith("error: folds")


def test_used_folder_is_refused(tmp_path: Path) -> None:
    code = "from pathlib import Path; from workflow.runtime.folder_lock import claim; claim(Path())"
    claim(tmp_path)
    held = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert held.returncode != 0
    assert f"process {os.getpid()} uses this folder" in held.stderr


@pytest.mark.parametrize(
    ("machine", "process", "cleared"),
    [
        (socket.gethostname(), 2**22, True),  # beyond the largest number of a process
        (socket.gethostname(), os.getpid(), True),  # of a container that was started again
        (socket.gethostname(), os.getppid(), False),
        ("another", 2**22, False),
    ],
    ids=["ended", "own", "parent", "another machine"],
)
def test_the_lock_of_a_run_that_ended_here_is_cleared(
    machine: str, process: int, cleared: bool, tmp_path: Path
) -> None:
    locks = tmp_path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").touch()
    (locks.parent / "npt.owner").write_text(f"{machine} {process}")
    if cleared:
        claim(tmp_path)
        assert not locks.exists()
        return
    with pytest.raises(UserError, match=f"process {process} on {machine}; if it has ended"):
        claim(tmp_path)
    assert (locks / "0.output.lock").exists()


@pytest.mark.parametrize("option", ["--summary", "--dag", "--report=page.zip", "--unlock"])
def test_one_can_look_while_a_run_goes_on(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(tmp_path)
    monkeypatch.setattr("sys.argv", ["snakemake", option])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hooks, "claim", lambda _: pytest.fail("claimed"))
        hooks.plan_jobs(CONFIG, snakemake(dry_run=False))


@pytest.mark.parametrize("files", [(), ("config.yaml",)])
def test_files_are_below_the_command_line(
    files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("config.yaml").write_text(json.dumps({**CONFIG, "folds": 1, "preset": "mine"}))
    monkeypatch.setattr("sys.argv", ["snakemake", "--config", "folds=0_2"])
    config: dict[str, Any] = {"folds": 2}  # as Snakemake reads it
    made = hooks.plan_jobs(config, snakemake(dry_run=True, files=files))
    assert config == {**CONFIG, "folds": "0_2", "preset": "mine"}
    assert [run.folds for run in made.plan.runs.values()] == [(0, 2)]


@pytest.mark.parametrize("content", ["folds: 0\nfolds: 1\n", None])
def test_default_file_that_cannot_be_read_is_named(content: str | None) -> None:
    if content is not None:
        Path("config.yaml").write_text(content)
    with pytest.raises(SystemExit, match=r"error: config\.yaml: "):
        hooks.plan_jobs({}, snakemake(dry_run=True, files=()))


def test_end_shows_what_the_report_says(capsys: pytest.CaptureFixture[str]) -> None:
    hooks.finished()
    assert capsys.readouterr().out == ""
    log = Path(paths.log("report", "report"))
    for path in (log, Path(paths.REPORT)):
        path.parent.mkdir(parents=True)
    log.write_text("3 of 3 results\n")
    Path(paths.REPORT).touch()
    hooks.finished()
    *_, result, address = capsys.readouterr().out.splitlines()
    assert result == "3 of 3 results"
    assert address.startswith("report: file:///")


def _user_error() -> None:
    raise UserError("folds: x")


def _os_error() -> None:
    raise OSError(28, "No space left on device", "results/x")


def _no_file() -> None:
    raise FileNotFoundError(2, "No such file or directory", "x.yaml")


def _interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("main", "code"),
    [
        (_user_error, "error: folds: x"),
        (_os_error, "error: results/x: No space left on device; run again to resume"),
        (_no_file, "error: x.yaml: No such file or directory"),
        (_interrupt, 130),
        (lambda: None, 0),
    ],
)
def test_step_ends_in_one_line(main: Any, code: int | str) -> None:
    with pytest.raises(SystemExit) as error:
        execute(main)
    assert error.value.code == code


def test_equal_files_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = {}
    for name in ("first", "second"):
        Path(f"{name}.csv").write_text("x,y\n1,2\n")
        blocks[name] = {"path": f"{name}.csv", "target": "y", "task": "regression"}
    config = {**CONFIG, "custom_datasets": blocks, "datasets": list(blocks)}
    jobs = hooks.plan_jobs(config, snakemake(dry_run=True))
    hooks.started(jobs, config, snakemake(dry_run=True))
    assert "first and second" in capsys.readouterr().err
