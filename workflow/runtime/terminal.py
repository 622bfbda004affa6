"""What a run prints: a line for each finished job, and errors. All else is in Snakemake's log."""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path
from typing import Any

from workflow.planning import paths

NOTHING_TO_DO = "Nothing to be done"
WAITING = "Will exit after finishing"  # the jobs that run, after SIGTERM
EXIT_STATUS = "CalledProcessError"  # says again that a job failed
TAIL = 10  # lines of the log of a job that ended with a traceback


class Terminal(logging.Handler):
    """Prints the jobs that are done and have failed, in the place of Snakemake's handler."""

    def __init__(self, inner: logging.Handler) -> None:
        super().__init__()
        self.inner = inner
        self.begun = time.monotonic()
        self.messages: dict[int, str] = {}  # of jobs that run, by id
        self.finished: list[int] = []

    def emit(self, record: Any) -> None:
        """Print the progress, or pass on what a reader needs to know."""
        event = str(getattr(record, "event", None))
        if event == "job_info":
            self.messages[record.jobid] = record.rule_msg or record.rule_name
        elif event == "job_finished":
            self.finished.append(record.job_id)
        elif event == "progress":
            self._print_progress(record.done, record.total)
        elif event == "job_error":
            self._print_failure(record)
        elif record.levelno >= logging.WARNING and EXIT_STATUS not in record.getMessage():
            self.inner.handle(record)
        elif record.getMessage().startswith((NOTHING_TO_DO, WAITING)):
            self.inner.handle(record)
            if record.getMessage().startswith(NOTHING_TO_DO):
                print_address()

    def _print_progress(self, done: int, total: int) -> None:
        minutes, seconds = divmod(round(time.monotonic() - self.begun), 60)
        for job in self.finished:
            message = self.messages.pop(job, "")
            print(f"[{done}/{total}  {minutes}:{seconds:02}] {message}", flush=True)
        self.finished = []

    def _print_failure(self, record: Any) -> None:
        """Print the error of a job, or the end of its log; pass on that of a job without a log."""
        log = Path(record.log[0]) if record.log else None
        if log is None or not log.exists():
            self.inner.handle(record)
            return
        lines = log.read_text(errors="replace").splitlines()
        errors = [line for line in lines if line.startswith("error: ")]
        job = self.messages.get(record.jobid, record.rule_name)
        text = "\n".join([f"failed: {job}, see {log}", *(errors or lines[-TAIL:])])
        print(text, file=sys.stderr, flush=True)


def install(snakemake: Any) -> None:
    """Print lines for readers from now on, unless Snakemake shall be quiet or tell more."""
    settings = snakemake.output_settings
    quiet = {str(getattr(name, "name", name)).lower() for name in settings.quiet or ()}
    if settings.dryrun or settings.verbose or settings.printshellcmds or settings.debug_dag:
        return
    if quiet & {"all", "progress", "rules"}:
        return
    from snakemake.logging import logger

    for handler in list(logger.handlers):
        if handler.name == "DefaultStreamHandler":
            logger.removeHandler(handler)
            logger.addHandler(Terminal(handler))


def print_address(folder: Path = Path()) -> None:
    """Print where the report of a folder is, if there is one."""
    report = folder / paths.REPORT
    if report.exists():
        print(f"report: {report.resolve().as_uri()}", flush=True)
