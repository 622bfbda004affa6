"""Reasons why a result does not exist yet, from the logs of its jobs."""

from __future__ import annotations

from pathlib import Path

from workflow.planning import paths

TAIL = 100_000  # bytes at the end of a log that are searched for an error
ERROR = "error: "


def why_unprepared(dataset: str) -> str:
    """Reason why a dataset is not prepared."""
    path = paths.prepared(dataset)
    return last_error(paths.log("prepare", dataset)) or f"{path} does not exist"


def why_unfinished(stem: str, probing_study: str | None) -> str:
    """Reason why a run has no rows, or a study's probe of it.

    It is the error of the first job on the way that has no result.
    """
    log = paths.log("run", stem)
    if probing_study is not None and Path(paths.run_rows(stem)).exists():
        log = paths.log("probe", f"{probing_study}/{stem}")
    if not Path(log).exists():
        return "not started"
    return last_error(log) or f"no result and no error in {log}: stopped or still running"


def last_error(log: str) -> str:
    """The last error in a log; empty if there is no such file or no error in it."""
    try:
        with Path(log).open("rb") as content:
            size = content.seek(0, 2)
            content.seek(max(0, size - TAIL))
            text = content.read().decode(errors="replace")
    except OSError:
        return ""
    for line in reversed(text.splitlines()):
        message = line.removeprefix(ERROR).strip()
        if line.startswith(ERROR) and message:
            return message
    return ""
