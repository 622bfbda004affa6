"""Declared tables with their folds."""

from __future__ import annotations

from npt.data.datasets import datasets
from npt.data.preparation import prepare_declared
from npt.data.source import DOWNLOADS
from npt.data.store import Prepared


def prepared(name: str) -> Prepared:
    """A table by its name, prepared anew."""
    return prepare_declared(datasets()[name], DOWNLOADS)
