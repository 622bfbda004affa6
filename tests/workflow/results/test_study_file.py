import json
from pathlib import Path

import pytest

from npt.errors import UserError
from tests.rows import failed, row, study
from workflow.results.study_file import read_study


def test_cells_are_read_as_they_were(tmp_path: Path) -> None:
    value = 0.1 + 0.2
    rows = [
        failed(reason="NA"),  # only an empty cell is missing
        row(fold=1, fingerprint="0123", test_rmse=value, chosen={"rate": value}),
        failed(fold=2, reason="=HYPERLINK(1)", note="@sum", loss=-0.5),  # a spreadsheet's formulas
    ]
    frame = study(rows, tmp_path)
    assert frame["reason"].fillna("missing").tolist() == ["NA", "missing", "'=HYPERLINK(1)"]
    assert frame["fingerprint"][1] == "0123"
    assert frame["test_rmse"][1] == value
    assert json.loads(frame["chosen"][1]) == {"rate": value}
    assert (frame["note"][2], frame["loss"][2]) == ("'@sum", -0.5)


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
