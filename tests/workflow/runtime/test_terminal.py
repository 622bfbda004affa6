"""What a person reads in the terminal while a run goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.logging import logger

from tests.rows import plan
from workflow.planning.forecast import JOB_SECONDS, job_seconds
from workflow.runtime.terminal import Terminal, about, clock_time, described, install, outcomes_in

NPT_RUN = {
    "dataset": "yacht",
    "method": "npt",
    "variant": "tuned",
    "seed": "0",
    "folds": "1",
}
SECONDS = {"": 1.0, "train": 10.0}


class Kept(logging.Handler):
    """Snakemake's own handler."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def told(terminal: Terminal, message: str = "", level: int = logging.INFO, **facts: Any) -> None:
    record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    for name, value in facts.items():
        setattr(record, name, value)
    terminal.handle(record)


def finish(terminal: Terminal, job_id: int, done: int, total: int) -> None:
    told(terminal, event="job_finished", job_id=job_id)
    told(terminal, event="progress", done=done, total=total)


def start(terminal: Terminal, job_id: int, rule: str, log: str = "", **wildcards: str) -> None:
    told(
        terminal,
        event="job_info",
        jobid=job_id,
        rule_name=rule,
        wildcards=wildcards,
        log=[log],
    )


def test_finished_job_is_a_line_with_its_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "job.log"
    log.write_text("something\noutcome: RMSE 4.08\n")
    seconds = iter([0.0, 178.0, 200.0])
    terminal = Terminal(Kept(), SECONDS, clock=lambda: next(seconds))
    told(terminal, event="run_info", stats={"train": 2, "report": 1, "total": 3})
    start(terminal, 7, "train", str(log), **NPT_RUN)
    start(terminal, 8, "report")
    finish(terminal, 7, 43, 114)
    finish(terminal, 8, 44, 114)
    assert capsys.readouterr().out.splitlines() == [
        "[ 43/114  2:58  about 2 min left] NPT (tuned) on Yacht, fold 1: RMSE 4.08",
        "[ 44/114  3:20  about 2 min left] report",
    ]


def test_time_left_begins_with_the_forecast(capsys: pytest.CaptureFixture[str]) -> None:
    """Of 600 core seconds on two cores, a first job that takes ten times as long changes little."""
    seconds = iter([0.0, 50.0])
    terminal = Terminal(Kept(), {"": 10.0}, cores=2, clock=lambda: next(seconds))
    told(terminal, event="run_info", stats={"prepare": 60, "total": 60})
    start(terminal, 0, "prepare", dataset="yacht")
    finish(terminal, 0, 1, 60)
    assert capsys.readouterr().out == "[ 1/60  0:50  about 6 min left] data of Yacht\n"


def test_jobs_of_a_shortened_npt_have_its_updates(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(Kept(), SECONDS, trainings=[("yacht", "tuned", 200)])
    told(terminal, event="run_info", stats={"train": 1, "total": 1})
    start(terminal, 0, "train", **NPT_RUN)
    finish(terminal, 0, 1, 1)
    assert "NPT, 200 updates (tuned) on Yacht" in capsys.readouterr().out


def test_errors_and_unknown_messages_are_passed_on(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # without the report of an earlier run, which would be named
    kept = Kept()
    terminal = Terminal(kept, SECONDS)
    told(terminal, "Error in rule train", logging.ERROR, event="job_error")
    told(terminal, "Building DAG of jobs...", logging.WARNING)
    told(terminal, "Nothing to be done (all requested files are present and up to date).")
    for silent in ("Building DAG of jobs...", "Select jobs to execute...", "Execute 2 jobs..."):
        told(terminal, silent)
    told(terminal, "python -m step", event="shellcmd")
    assert kept.messages == [
        "Error in rule train",
        "Building DAG of jobs...",
        "Nothing to be done (all requested files are present and up to date).",
    ]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("rule", "wildcards", "text"),
    [
        ("fit", {**NPT_RUN, "folds": "0-2_5"}, "NPT (tuned) on Yacht, folds 0-2, 5"),
        ("train", {**NPT_RUN, "seed": "1"}, "NPT (tuned) on Yacht, fold 1, seed 1"),
        ("probe", NPT_RUN, "probes of NPT (tuned) on Yacht, fold 1"),
        ("collect", {"study": "main"}, "rows of main"),
        ("show_benchmark", {"study": "main"}, "tables and figures of main"),
        ("report", {}, "report"),
    ],
)
def test_jobs_are_described(rule: str, wildcards: dict[str, str], text: str) -> None:
    assert described(rule, wildcards) == text


def test_missing_log_has_no_outcome(tmp_path: Path) -> None:
    assert outcomes_in(tmp_path / "none.log") == []


def test_times_are_as_people_say_them() -> None:
    assert [clock_time(seconds) for seconds in (5, 178, 3723)] == ["0:05", "2:58", "1:02:03"]
    assert about(67) == "less than 2 min"
    assert about(300) == "about 5 min"
    assert about(7800) == "about 2 h 10 min"


def test_forecast_has_seconds_for_each_rule() -> None:
    seconds = job_seconds(plan())
    assert {"", "train", "fit", "probe"} <= set(seconds)
    assert seconds["train"] > seconds[""] == JOB_SECONDS


@pytest.fixture
def stream() -> Iterator[logging.Handler]:
    """Snakemake's stream handler, alone on its logger."""
    before = list(logger.handlers)
    handler = Kept()
    handler.name = "DefaultStreamHandler"
    logger.handlers = [handler]
    yield handler
    logger.handlers = before


def snakemake(**changes: Any) -> Any:
    names = ("dryrun", "verbose", "printshellcmds", "debug_dag")
    settings = {**dict.fromkeys(names, False), "quiet": {"host"}, **changes}
    return SimpleNamespace(
        output_settings=SimpleNamespace(**settings),
        resource_settings=SimpleNamespace(cores=2, nodes=None),
    )


def test_lines_for_readers_replace_snakemakes_stream(stream: logging.Handler) -> None:
    install(plan(), snakemake())
    assert [type(handler) for handler in logger.handlers] == [Terminal]


@pytest.mark.parametrize(
    "changes",
    [{"dryrun": True}, {"verbose": True}, {"printshellcmds": True}, {"quiet": {"progress"}}],
)
def test_wishes_of_the_command_line_win(stream: logging.Handler, changes: dict[str, Any]) -> None:
    install(plan(), snakemake(**changes))
    assert logger.handlers == [stream]
