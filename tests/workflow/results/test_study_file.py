from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from npt.errors import UserError
from tests.rows import failed, row, study
from workflow.results.study_file import read_study


def test_only_an_empty_cell_is_missing(tmp_path: Path) -> None:
    frame = study([failed(reason="NA"), row(fold=1, fingerprint="0123")], tmp_path)
    assert frame["reason"][0] == "NA"
    assert pd.isna(frame["reason"][1])
    assert frame["fingerprint"][1] == "0123"


def test_numbers_keep_all_digits(tmp_path: Path) -> None:
    value = 0.1 + 0.2
    frame = study([row(test_rmse=value, chosen={"rate": value})], tmp_path)
    assert frame["test_rmse"][0] == value
    assert json.loads(frame["chosen"][0]) == {"rate": value}


def test_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "main.csv"
    path.write_bytes(b"\xff")
    with pytest.raises(UserError, match=r"main\.csv: damaged"):
        read_study(path)


def test_checksum_of_an_earlier_version_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "main.csv"
    path.write_text("study,dataset,fold,crc32_01234567\nmain,yacht,1,\n")
    assert list(read_study(path)) == ["study", "dataset", "fold"]
