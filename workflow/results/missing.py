"""Reasons why a result does not exist yet, from the logs of its jobs."""

from __future__ import annotations

import os
from pathlib import Path

from workflow.planning import paths

TAIL = 100_000  # bytes at the end of a log that are searched for an error
ERROR = "error: "  # begins the line of a user error
TRACEBACK = "Traceback (most recent call last):"


def why_unprepared(dataset: str) -> str:
    """Reason why a dataset is not prepared."""
    error = last_error(paths.log("prepare", dataset))
    return error or f"{paths.prepared(dataset)} does not exist"


def why_unfinished(stem: str, probing_study: str | None) -> str:
    """Reason why a run has no rows, or a study's probe of it.

    It is the error of the first job on the way that has no result.
    """
    log = paths.log("run", stem)
    fitted = Path(paths.run_rows(stem)).exists()
    if fitted and probing_study is not None:
        log = paths.log("probe", stem)
    if not Path(log).exists():
        return "not started"
    error = last_error(log)
    return error or f"no result and no error in {log}: stopped or still running"


def last_error(log: str) -> str:
    """The last error in a log; empty if there is no such file or no error in it."""
    try:
        lines = _last_lines(Path(log))
    except OSError:
        return ""
    for line in reversed(lines):
        message = line.removeprefix(ERROR).strip()
        if line.startswith(ERROR) and message:
            return message
    if TRACEBACK in lines:
        return lines[-1]
    return ""


def _last_lines(path: Path) -> list[str]:
    """The last lines that are not blank."""
    with path.open("rb") as content:
        size = content.seek(0, os.SEEK_END)
        content.seek(max(0, size - TAIL))
        text = content.read().decode(errors="replace")
    return [line.rstrip() for line in text.splitlines() if line.strip()]
