from pathlib import Path

import pytest

from npt.errors import UserError
from tests.rows import failed, row
from workflow.results.row import read_rows, write_rows


def test_rows_are_read_as_written(tmp_path: Path) -> None:
    rows = [row(test_rmse=1.5, doses={"share": [0, 1]}), failed(fold=1), row(fold=2, fits=3)]
    write_rows(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl") == rows


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"dataset": "ya', "rows.jsonl:2: not JSON (Invalid JSON"),
        ("{}", "rows.jsonl:2.dataset: "),
        ("3", "rows.jsonl:2: "),
        ('{"dataset": "yacht", "task": "guess"}', "rows.jsonl:2.task: "),
    ],
)
def test_damaged_line_is_named(line: str, key: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows(path, [row()])
    path.write_text(path.read_text() + line)
    with pytest.raises(UserError) as error:
        read_rows(path)
    assert key in str(error.value)


def test_changed_digit_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows(path, [row(test_rmse=1.5)])
    path.write_text(path.read_text().replace("1.5", "1.4"))
    with pytest.raises(UserError, match=r"rows\.jsonl:1: damaged"):
        read_rows(path)
