"""Rows and columns of a file, before it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from npt.data.custom.delimited import OPENERS, SEPARATORS, UNREADABLE, is_delimited
from npt.data.custom.formats import file_at

SAMPLE_BYTES = 1 << 18
COMPRESSION = 5  # a usual ratio, where the file does not tell
SIZE_BYTES = 4  # at the end of a gzip file, which hold its size before compression


def estimated_shape(path: str, separator: str = "") -> tuple[int, int] | None:
    """Rows and columns of a table; None if they cannot be told.

    Those of Parquet are exact. Of text, the rows follow from the size and the first lines.
    """
    file = file_at(path)
    if file is None:
        return None
    if file.name.lower().endswith(".parquet"):
        return _of_parquet(file)
    if not is_delimited(file.name) or file.suffix.lower() == ".zip":
        return None
    try:
        return _of_text(file, separator)
    except UNREADABLE:
        return None


def _of_parquet(file: Path) -> tuple[int, int] | None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        metadata = parquet.read_metadata(file)
    except (pa.ArrowException, OSError):
        return None
    return metadata.num_rows, metadata.num_columns


def _of_text(file: Path, separator: str) -> tuple[int, int] | None:
    ending = file.suffix.lower()
    opener: Any = OPENERS.get(ending, open)
    with opener(file, "rb") as stream:
        sample: bytes = stream.read(SAMPLE_BYTES)
    lines = [line for line in sample.splitlines() if line.strip()]
    if not lines:
        return None
    size = file.stat().st_size
    if ending == ".gz":
        with file.open("rb") as stream:
            stream.seek(-SIZE_BYTES, 2)
            size = int.from_bytes(stream.read(), "little")
    elif ending in OPENERS:
        size *= COMPRESSION
    separators = separator or SEPARATORS
    header = lines[0].decode("utf-8", errors="replace")
    columns = 1 + max(header.count(letter) for letter in separators)
    rows = len(lines) - 1
    if size > len(sample):
        rows = round(size * len(lines) / len(sample))
    return rows, columns
