"""Results on disk that the current code did not make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from baselines import methods
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.planning.revision import probe_sources, revision
from workflow.studies import kinds


def outdated_folders(plan: Plan) -> list[str]:
    """Folders with results of a plan by another revision of the code, with * for any dataset."""
    folders: dict[str, None] = {}
    for run in plan.runs.values():
        if _is_outdated(paths.run_rows(run.stem), run.method, ()):
            folders[paths.runs_of_method(run.method)] = None
    for study in plan.studies.values():
        kind = kinds()[study.kind]
        options = kind.options.model_validate(study.options)
        sources = probe_sources(study.kind, kind.sources(options))
        for run in plan.probed_runs_of(study):
            if _is_outdated(paths.probe_rows(study.name, run.stem), run.method, sources):
                folders[paths.probes_of_method(run.method, study.name)] = None
    return list(folders)


def has_old_layout() -> bool:
    """Whether the folder holds runs of a version that kept no seeds."""
    return any(Path(paths.RESULTS, "runs").glob(f"*/*/*/*{paths.ROWS}"))


def _is_outdated(path: str, method: str, sources: Sequence[str]) -> bool:
    made_by = _revision_of(Path(path))
    if not made_by:
        return False
    current = revision(methods()[method], sources)
    return made_by != current


def _revision_of(path: Path) -> str:
    """Revision in the first row of a file; empty if there is none, or it is unreadable."""
    try:
        with path.open(encoding="utf-8") as lines:
            row = json.loads(next(lines, "{}"))
    except (OSError, ValueError):
        return ""
    if not isinstance(row, dict):
        return ""
    return str(row.get("revision", ""))
