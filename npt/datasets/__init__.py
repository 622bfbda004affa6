"""Datasets: one file each, a declaration."""

from __future__ import annotations

import sys
from functools import cache

from npt.datasets.declaration import Dataset
from npt.registry import declarations


@cache
def datasets() -> dict[str, Dataset]:
    """Every declared dataset by name."""
    return declarations(sys.modules[__name__], "DATASET")
