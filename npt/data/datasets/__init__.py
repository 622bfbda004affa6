"""Declared datasets: a file each, and a line each of npt/data/public.csv."""

from __future__ import annotations

import importlib
from functools import cache

from npt.data.declaration import Dataset
from npt.data.public import public_tables
from npt.registry import declarations


@cache
def datasets() -> dict[str, Dataset]:
    """Every declared dataset by name.

    Further ones are the `ALTERNATIVES` of their files, and the paper's cross-validated datasets
    with the folds of its released code.
    """
    declared: dict[str, Dataset] = declarations(__name__, "DATASET")
    for name in list(declared):
        module = importlib.import_module(f"{__name__}.{name}")
        for alternative in getattr(module, "ALTERNATIVES", ()):
            declared[alternative.name] = alternative
    for dataset in list(declared.values()):
        rule = dataset.split_rule
        cross_validated = rule.used == rule.folds and not rule.fixed_test_rows
        if dataset.in_paper and cross_validated:
            legacy = dataset.with_legacy_splits()
            declared[legacy.name] = legacy
    return declared | public_tables()
