"""What computes a result: source files of this project, and versions of libraries."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


def installed_version(library: str) -> str | None:
    """Version of a distribution; None if it is not installed."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


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
