"""Folders of a run, and figures that end with their test."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rows import prepare


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a run with two prepared datasets, in which a test runs."""
    monkeypatch.chdir(tmp_path)
    prepare("yacht")
    prepare("wine")
    return tmp_path


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
