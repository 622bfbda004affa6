"""Revision of the code that determines a result: a hash of source files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import npt
from npt.interface import Method

ROOT = Path(npt.__file__).parents[1]
# What all rows depend on.
FITTING = ("workflow/results/fitting.py", "workflow/results/job.py")
# What all probes depend on; their rows hold metrics, which rows of runs do not.
PROBING = (
    "npt/metrics.py",
    "workflow/results/best_trials.py",
    "workflow/studies/probing.py",
    "workflow/studies/query.py",
    "workflow/studies/study_kind.py",
)
# Modules of a study kind that only declare or show; options are in the rows.
NOT_PROBING = ("__init__.py", "by_fold.py", "tables.py", "figures.py", "summary.py")


def revision(method: Method, sources: Sequence[str] = ()) -> str:
    """Sixteen hex digits over the sources of a method, its fitting, and further files.

    The declarations of datasets are left out, since rows carry the hash of their table.
    """
    return hash_of_files((*method.sources, *FITTING, *sources))


def probe_sources(kind: str, further: Sequence[str] = ()) -> tuple[str, ...]:
    """Files that determine the rows of a probe, besides those of the method.

    Args:
        further: Those that the kind names for its options.
    """
    folder = f"workflow/studies/{kind}"
    names = sorted(file.name for file in (ROOT / folder).glob("*.py"))
    probing = [f"{folder}/{name}" for name in names if name not in NOT_PROBING]
    return (*PROBING, *probing, *further)


@cache
def hash_of_files(sources: Sequence[str]) -> str:
    """Sixteen hex digits over files, and over the Python files of folders, of this project."""
    digest = hashlib.sha256()
    for source in dict.fromkeys(sources):
        path = ROOT / source
        files = [path]
        if path.is_dir():
            files = sorted(path.rglob("*.py"))
        for file in files:
            name = file.relative_to(ROOT).as_posix()
            digest.update(name.encode())
            digest.update(b"\0")
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
