"""Datasets: one file each, a declaration."""

from __future__ import annotations

import importlib
import sys
from functools import cache

from npt.data.declaration import Dataset
from npt.registry import declarations


@cache
def datasets() -> dict[str, Dataset]:
    """Every declared dataset by name, those that its file reads otherwise (`ALTERNATIVES`), and the paper's cross-validated
    ones with the splits of its released code."""
    declared: dict[str, Dataset] = declarations(sys.modules[__name__], "DATASET")
    for name in list(declared):
        alternatives = getattr(importlib.import_module(f"{__name__}.{name}"), "ALTERNATIVES", ())
        declared.update({one.name: one for one in alternatives})
    validated = [
        d
        for d in declared.values()
        if d.in_paper and d.split_rule.used == 10 and not d.split_rule.fixed_test_rows
    ]
    return {**declared, **{d.name: d for d in (one.with_legacy_splits() for one in validated)}}
