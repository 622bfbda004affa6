"""Declared datasets: a file each, and a line each of npt/data/public.csv."""

from __future__ import annotations

import importlib
from functools import cache

from npt.data.declaration import Dataset
from npt.data.public import grouped_tables, public_tables
from npt.registry import declarations


@cache
def datasets() -> dict[str, Dataset]:
    """Every declared dataset by name.

    Further ones are the `ALTERNATIVES` of their files.
    """
    declared: dict[str, Dataset] = declarations(__name__, "DATASET")
    for name in list(declared):
        module = importlib.import_module(f"{__name__}.{name}")
        for alternative in getattr(module, "ALTERNATIVES", ()):
            declared[alternative.name] = alternative
    return declared | public_tables() | grouped_tables()
