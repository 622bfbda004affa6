"""File formats of images."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from npt.data.images import read_idx, read_records
from npt.errors import UserError

HEADER = b"\0\0\x08\1\0\0\0\6"  # six unsigned bytes in one dimension


def test_an_idx_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(HEADER + b"abcdef"))
    assert read_idx(path, (6,)).tobytes() == b"abcdef"


@pytest.mark.parametrize("content", [b"", bytes(8 + 6), HEADER + bytes(7), HEADER + bytes(5)])
@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_an_idx_file_of_another_shape(content: bytes, pack: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(pack(content))
    with pytest.raises(UserError, match=r"x\.gz"):
        read_idx(path, (6,))


def test_records_of_another_size(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(7))
    with pytest.raises(UserError, match=r"x\.bin"):
        read_records(path, 2, 4)
