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

MOST_READ = 100  # files of a folder


def outdated_folders(plan: Plan) -> list[str]:
    """Folders with results of a plan by another revision of the code, with * for any dataset.

    Of a folder with many files some are read, evenly spaced. What they miss `collect` refuses.
    """
    current: dict[str, str] = {}
    files: dict[str, list[str]] = {}
    for run in plan.runs.values():
        folder = paths.runs_of_method(run.method)
        if folder not in current:
            current[folder] = revision(methods()[run.method])
        files.setdefault(folder, []).append(paths.run_rows(run.stem))
    for study in plan.studies.values():
        kind = kinds()[study.kind]
        options = kind.options.model_validate(study.options)
        sources = probe_sources(study.kind, kind.sources(options))
        for run in plan.probed_runs_of(study):
            folder = paths.probes_of_method(run.method, study.name)
            if folder not in current:
                current[folder] = revision(methods()[run.method], sources)
            files.setdefault(folder, []).append(paths.probe_rows(study.name, run.stem))
    return [folder for folder in files if _has_outdated(files[folder], current[folder])]


def has_old_layout() -> bool:
    """Whether the folder holds runs of a version that kept no seeds."""
    return any(Path(paths.RESULTS, "runs").glob(f"*/*/*/*{paths.ROWS}"))


def _has_outdated(files: Sequence[str], current: str) -> bool:
    """Whether some file is of another revision than the current one."""
    step = -(-len(files) // MOST_READ)
    for file in files[::step]:
        made_by = _revision_of(Path(file))
        if made_by and made_by != current:
            return True
    return False


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
