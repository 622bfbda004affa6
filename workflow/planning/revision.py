"""Which code made a result: a hash of the files that determine it, and the results that other code made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import npt
from baselines import methods
from npt.interface import Method
from workflow.planning.old_plan import Plan
from workflow.planning.paths import RESULTS, ROWS
from workflow.studies.kinds import KINDS

PROBE_SOURCES = ("workflow/studies",)  # what determines the result of a probe, beside the method


def revision(method: Method, sources: Sequence[str] = ()) -> str:
    """Sixteen hex digits over the code that determines results: the method's and further `sources`, but no dataset's."""
    return _hashed((*method.sources, *sources))


@cache
def _hashed(sources: Sequence[str]) -> str:
    root = Path(npt.__file__).parents[1]
    digest = hashlib.sha256()
    for source in dict.fromkeys(sources):
        path = root / source
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def outdated(plan: Plan) -> list[str]:
    """Folders with results of a plan that another revision of the code made, with * for any dataset.

    A file that cannot be read is passed over; the step that needs it says why.
    """
    made = [(f"{RESULTS}/runs/{run.stem}{ROWS}", run.method, ()) for run in plan.runs.values()]
    for study in plan.config.studies:
        if KINDS[study.kind].probe:
            made += [
                (plan.rows_of(study, run), run.method, PROBE_SOURCES) for run in plan.runs_of(study)
            ]
    found = {}
    for path, method, sources in made:
        if (known := _revision_of(Path(path))) and known != revision(methods()[method], sources):
            folder = Path(path).parents[1]
            found[str(folder.parents[1] / "*" / folder.name)] = None
    return list(found)


def _revision_of(path: Path) -> str:
    """The revision that the first row of a file names; empty if there is none."""
    try:
        with path.open(encoding="utf-8") as lines:
            row = json.loads(next(lines, "{}"))
        return str(row.get("revision", ""))
    except (OSError, ValueError, AttributeError):
        return ""
