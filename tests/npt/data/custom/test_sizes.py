"""Rows and columns of a file, before it is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.data.custom.file import estimated_shape

ROWS = 30_000


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    return pd.DataFrame({name: generator.normal(size=ROWS) for name in "abc"})


@pytest.mark.parametrize("name", ["mine.csv", "mine.csv.gz", "mine.tsv"])
def test_rows_of_text_follow_from_the_first_ones(
    name: str, frame: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / name
    frame.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    shape = estimated_shape(str(path))
    assert shape is not None
    assert shape[0] == pytest.approx(ROWS, rel=0.01)
    assert shape[1] == 3


def test_rows_of_small_text_and_of_parquet_are_exact(frame: pd.DataFrame, tmp_path: Path) -> None:
    text = tmp_path / "mine.csv"
    frame[:90].to_csv(text, index=False, sep=";")
    assert estimated_shape(str(text)) == (90, 3)
    table = tmp_path / "mine.parquet"
    frame.to_parquet(table)
    assert estimated_shape(str(table)) == (ROWS, 3)


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08", b"\n\n"])
def test_what_is_no_table_has_no_shape(content: bytes, tmp_path: Path) -> None:
    for name in ("mine.csv.gz", "mine.parquet"):
        path = tmp_path / name
        path.write_bytes(content)
        assert estimated_shape(str(path)) is None
    assert estimated_shape(str(tmp_path / "none.csv")) is None
