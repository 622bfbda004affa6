"""Datasets: one file each, a declaration."""

from __future__ import annotations

import sys
from functools import cache

from npt.datasets.declaration import Dataset
from npt.registry import declarations


@cache
def datasets() -> dict[str, Dataset]:
    """Every declared dataset by name, and the paper's cross-validated ones once more with the splits of its released code."""
    declared: dict[str, Dataset] = declarations(sys.modules[__name__], "DATASET")
    validated = [d for d in declared.values() if d.in_paper and d.split_rule.used == 10 and not d.split_rule.fixed_test_rows]
    return {**declared, **{d.name: d for d in (one.with_legacy_splits() for one in validated)}}
