"""Rows and columns of a file, before it is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.data.custom.file import shape_of


@pytest.mark.parametrize("name", ["mine.csv", "mine.csv.gz", "mine.tsv", "mine.parquet"])
def test_rows_are_counted(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 3)), columns=list("abc"))
    path = tmp_path / name
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    assert shape_of(str(path)) == (90, 3)


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08", b"\n\n"])
def test_what_is_no_table_has_no_shape(content: bytes, tmp_path: Path) -> None:
    for name in ("mine.csv.gz", "mine.parquet"):
        path = tmp_path / name
        path.write_bytes(content)
        assert shape_of(str(path)) is None
    assert shape_of(str(tmp_path / "none.csv")) is None
