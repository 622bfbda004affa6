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


@pytest.mark.parametrize(("old", "new"), [(b"1.5", b"1.4"), (b"\n", b"\n\0"), (b"m", b"\xff")])
def test_changed_file_is_refused(old: bytes, new: bytes, tmp_path: Path) -> None:
    study([row(test_rmse=1.5)], tmp_path)
    path = tmp_path / "main.csv"
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(UserError, match=r"main\.csv: damaged"):
        read_study(path)


def test_file_without_a_checksum_is_read(tmp_path: Path) -> None:
    path = tmp_path / "main.csv"
    path.write_text("study,dataset,fold\nmain,yacht,1\n")
    assert read_study(path)["fold"].tolist() == [1]


def test_text_that_a_spreadsheet_would_compute_is_quoted(tmp_path: Path) -> None:
    frame = study([failed(reason="=HYPERLINK(1)"), row(fold=1, note="@sum", loss=-0.5)], tmp_path)
    assert frame["reason"][0] == "'=HYPERLINK(1)"
    assert frame["note"][1] == "'@sum"
    assert frame["loss"][1] == -0.5
