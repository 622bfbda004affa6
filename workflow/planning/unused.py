"""External files that a study does not take, since it has no run of their folds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from npt.wording import listed
from workflow.planning.external_runs import external_runs
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy

MOST = 5  # files that a note names


def notes_of_unused(plan: Plan) -> Iterator[str]:
    """A line for every study with such files, which names them."""
    for study in plan.studies.values():
        unused = _unused(study)
        if unused:
            files = listed(map(str, unused), MOST)
            yield f"studies.{study.name}.external_results: has no run of {files}"


def _unused(study: PlannedStudy) -> list[Path]:
    expected = {(row.key, row.seed, row.fold) for row in study.expected}
    used: dict[Path, bool] = {}
    runs = external_runs(study.external_results, f"studies.{study.name}.external_results")
    for key, folds in runs.items():
        for (seed, fold), path in folds.items():
            used[path] = used.get(path, False) or (key, seed, fold) in expected
    return [path for path, is_used in used.items() if not is_used]
