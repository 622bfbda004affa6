"""The line below the report's title: when and where its rows were made, and of which revision."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from datetime import date

import pandas as pd

from npt.provenance import ROOT
from workflow.report.cells import duration
from workflow.report.statistics import MODEL

TRAINING = [*MODEL, "fold", "seed"]
SECONDS = ["fit_seconds", "predict_seconds"]
SECONDS_OF_GIT = 30


def run_facts(studies: Iterable[pd.DataFrame]) -> list[str]:
    """Days and machine of the rows, and how long their methods computed."""
    columns = [*TRAINING, *SECONDS, "machine", "date"]
    frames = [study.reindex(columns=columns) for study in studies]
    if not frames:
        return []
    rows = pd.concat(frames)
    facts = [
        _days(rows["date"].dropna()),
        _computing_time(rows),
        _machine(rows["machine"].dropna()),
    ]
    return [fact for fact in facts if fact]


def _days(dates: pd.Series) -> str:
    """The day of the last row, and of the first where it is another."""
    if dates.empty:
        return ""
    first = date.fromisoformat(dates.min())
    last = date.fromisoformat(dates.max())
    shown = f"{last.day} {last:%B %Y}"
    if first == last:
        return shown
    return f"{first.day} {first:%B %Y} to {shown}"


def _computing_time(rows: pd.DataFrame) -> str:
    """Seconds of all trainings, each once, although several studies may show it."""
    trainings = rows.dropna(subset="fit_seconds")
    trainings = trainings.drop_duplicates(TRAINING)
    seconds = trainings[SECONDS].sum().sum()
    return f"{duration(seconds)} of training" if seconds > 0 else ""


def _machine(machines: pd.Series) -> str:
    names = list(machines.unique())
    if len(names) > 1:
        return f"{len(names)} machines"
    return names[0] if names else ""


def code_revision() -> str:
    """The git commit of this code; empty outside a repository."""
    try:
        commit = _git("rev-parse", "--short=10", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return ""
    changes = " with changes" if changed else ""
    return f"revision {commit}{changes}"


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS_OF_GIT,
    )
    return done.stdout.strip()
