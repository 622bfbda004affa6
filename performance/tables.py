"""Declared tables with their folds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from npt.data.datasets import datasets
from npt.data.preparation import prepare_declared
from npt.data.store import Prepared


def prepared(name: str) -> Prepared:
    """A table by its name, read anew."""
    with tempfile.TemporaryDirectory() as downloads:
        return prepare_declared(datasets()[name], Path(downloads))
