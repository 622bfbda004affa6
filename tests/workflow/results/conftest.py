"""A folder of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rows import prepare


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a run with two prepared datasets, in which a test runs."""
    monkeypatch.chdir(tmp_path)
    prepare("yacht")
    prepare("wine")
    return tmp_path
