"""Rows and columns of a file, before it is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.data.custom.file import estimated_shape


@pytest.mark.parametrize("rows", [90, 30_000])
@pytest.mark.parametrize("name", ["mine.csv", "mine.csv.gz", "mine.tsv", "mine.parquet"])
def test_rows_are_exact_or_follow_from_the_first(name: str, rows: int, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({name: generator.normal(size=rows) for name in "abc"})
    path = tmp_path / name
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    shape = estimated_shape(str(path))
    assert shape is not None
    is_exact = path.suffix == ".parquet" or rows < 1000
    assert shape[0] == (rows if is_exact else pytest.approx(rows, rel=0.1))
    assert shape[1] == 3


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08", b"\n\n"])
def test_what_is_no_table_has_no_shape(content: bytes, tmp_path: Path) -> None:
    for name in ("mine.csv.gz", "mine.parquet"):
        path = tmp_path / name
        path.write_bytes(content)
        assert estimated_shape(str(path)) is None
    assert estimated_shape(str(tmp_path / "none.csv")) is None
