"""What computes a result: this project, and versions of libraries."""

from __future__ import annotations

import importlib.metadata
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


@cache
def installed_version(library: str) -> str | None:
    """Version of a distribution; None if it is not installed."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None
