"""Atomic writes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from npt.atomic import replacing


@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_the_umask_is_honoured(mask: int, mode: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        with replacing(tmp_path / "patients.arrow") as partial:
            partial.touch()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "patients.arrow").stat().st_mode) == mode
