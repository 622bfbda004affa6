"""Rows of a run or of a probe as JSON lines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from npt.atomic import replacing
from npt.checksum import json_line, without_checksum
from npt.errors import UserError
from npt.validation import user_error
from workflow.results.row import Row


def remedy(path: Path | str) -> str:
    """Part of an error message about a file of rows, or about the predictions next to it."""
    return f"remove {path} and run again"


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write one JSON object per row, with the columns that were set."""
    lines = [json_line(row.values()) for row in rows]
    with replacing(path) as partial:
        partial.write_text("".join(lines), encoding="utf-8")


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a file.

    Raises:
        UserError: a line is damaged or not a row; names the file, the line and the column.
        OSError: the file cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    return [_row(line, f"{path}:{number}") for number, line in enumerate(lines, 1)]


def _row(line: str, where: str) -> Row:
    try:
        return Row.model_validate_json(without_checksum(line))
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            raise UserError(f"{where}: not JSON ({first['msg']})") from None
        raise user_error(error, Row, where) from None
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None
