from __future__ import annotations

from pathlib import Path

import pytest

from workflow.results.missing import TAIL, last_error

TRACEBACK = "Traceback (most recent call last):\n  File\nValueError: too small\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", ""),
        ("loading\n", ""),
        ("error: first\nloading\nerror: second\nerror: \n", "second"),
        (TRACEBACK, "ValueError: too small"),
        (f"{TRACEBACK}error: of the user\n", "of the user"),
        ("x" * TAIL + "\nerror: at the end\n", "at the end"),
    ],
)
def test_last_error_of_a_log(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(text)
    assert last_error(str(path)) == error


def test_missing_log_has_no_error(tmp_path: Path) -> None:
    assert last_error(str(tmp_path / "job.log")) == ""
