"""What a person reads in the terminal while a run goes on."""

import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.logging import logger

from workflow.runtime.terminal import Terminal, install


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


def start(terminal: Terminal, job_id: int, message: str | None) -> None:
    told(terminal, event="job_info", jobid=job_id, rule_name="report", rule_msg=message)


def finish(terminal: Terminal, job_id: int, done: int) -> None:
    told(terminal, event="job_finished", job_id=job_id)
    told(terminal, event="progress", done=done, total=114)


def fail(terminal: Terminal, job_id: int, log: list[str]) -> None:
    facts = {"event": "job_error", "jobid": job_id, "rule_name": "train", "log": log}
    told(terminal, "Error in rule train", logging.ERROR, **facts)


def test_finished_jobs_are_lines_with_the_failed_ones(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept()
    terminal = Terminal(kept)
    terminal.begun -= 178
    start(terminal, 7, "train yacht/npt/base/seed_0/folds_1")
    start(terminal, 8, None)
    finish(terminal, 7, 43)
    fail(terminal, 9, [])
    finish(terminal, 8, 44)
    assert capsys.readouterr().out.splitlines() == [
        "[43/114  2:58] train yacht/npt/base/seed_0/folds_1",
        "[44/114  2:58] report",
    ]
    waits = "Will exit after finishing currently running jobs (scheduler)."
    told(terminal, waits)
    assert kept.messages == ["Error in rule train", waits]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("loading\nerror: no memory\n", ["error: no memory"]),
        ("".join(f"line {number}\n" for number in range(99)), [f"line {n}" for n in range(89, 99)]),
    ],
)
def test_failed_job_has_its_error_or_the_end_of_its_log(
    content: str, lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "job.log"
    log.write_text(content)
    terminal = Terminal(Kept())
    start(terminal, 7, "train yacht")
    fail(terminal, 7, [str(log)])
    assert capsys.readouterr().err.splitlines() == [f"failed: train yacht, see {log}", *lines]


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
    return SimpleNamespace(output_settings=SimpleNamespace(**settings))


@pytest.mark.parametrize(
    "changes", [{}, {"dryrun": True}, {"verbose": True}, {"quiet": {"progress"}}]
)
def test_wishes_of_the_command_line_win(stream: logging.Handler, changes: dict[str, Any]) -> None:
    install(snakemake(**changes))
    (handler,) = logger.handlers
    assert isinstance(handler, Terminal) != bool(changes)
