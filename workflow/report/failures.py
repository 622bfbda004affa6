"""Lines of the report about results that are missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pandas as pd

from workflow.config.folds import format_folds
from workflow.config.scoring import Scoring
from workflow.report.cells import counted
from workflow.report.statistics import missing_reason, tasks_of


def failures(studies: Mapping[str, pd.DataFrame], scoring: Scoring) -> list[str]:
    """A line for the folds of a run that lack a result for the same reason."""
    folds: dict[tuple[str, str], list[int]] = defaultdict(list)
    for name, study in studies.items():
        for row in _without_metric(study, scoring).to_dict("records"):
            reason = missing_reason(row, scoring.metrics[row["task"]])
            if reason:
                folds[_run(name, row), reason].append(row["fold"])
    lines = []
    for (run, reason), numbers in folds.items():
        noun = "fold" if len(numbers) == 1 else "folds"
        shown = format_folds(numbers).replace("_", ", ")
        lines.append(f"{run}, {noun} {shown}: {reason}")
    return lines


def _without_metric(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """Rows that failed, or lack the metric of their task."""
    lacks_metric = study["status"] != "ok"
    for task in tasks_of(study):
        column = f"test_{scoring.metrics[task]}"
        if column not in study:
            continue
        of_task = study["task"] == task
        lacks_metric |= of_task & study[column].isna()
    return study[lacks_metric]


def results_line(studies: Mapping[str, pd.DataFrame]) -> str:
    """How many results there are, and how many failed."""
    statuses = pd.concat([study["status"] for study in studies.values()])
    failed = int((statuses != "ok").sum())
    finished = f"{len(statuses) - failed} of {counted(len(statuses), 'result')}"
    return f"{finished}; {failed} failed or skipped, see the report" if failed else finished


def _run(study: str, row: Mapping[Any, Any]) -> str:
    run = f"{study}: {row['method']} ({row['variant']}) on {row['dataset']}"
    seed = row.get("seed", 0)
    return f"{run}, seed {seed}" if seed else run
