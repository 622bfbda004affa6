"""Revision of the code that determines a result: a hash of source files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import npt
from npt.interface import Method

ROOT = Path(npt.__file__).parents[1]
# Modules of a study kind that only declare or show; options are in the rows.
NOT_PROBING = ("__init__.py", "tables.py", "figures.py", "summary.py")


def revision(method: Method, sources: Sequence[str] = ()) -> str:
    """Sixteen hex digits over the sources of a method, and further files or folders.

    The declarations of datasets are left out, since rows carry the hash of their table.
    """
    return _hash_of((*method.sources, *sources))


def probe_sources(kind: str) -> tuple[str, ...]:
    """Files that determine the rows of a probe, besides those of the method."""
    folder = ROOT / "workflow" / "studies"
    files = [folder / "probing.py", folder / "query.py"]
    for file in sorted((folder / kind).glob("*.py")):
        if file.name not in NOT_PROBING:
            files.append(file)
    return tuple(file.relative_to(ROOT).as_posix() for file in files)


@cache
def _hash_of(sources: Sequence[str]) -> str:
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
