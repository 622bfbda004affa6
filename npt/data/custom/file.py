"""The file of a custom dataset: its name, its bytes, and its numbers of rows and columns."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from pathlib import Path
from typing import Any

from npt.errors import UserError

TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat")
COMPRESSED = (".gz", ".xz", ".bz2", ".zip")
SEPARATORS = ",;\t|"
UNREADABLE = (
    OSError,
    EOFError,
    ValueError,  # of Arrow
    RuntimeError,  # of an encrypted zip, or one of an unknown method
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)
MAX_ERROR = 200  # letters of an error of a library


def file_at(path: str) -> Path | None:
    """The file of a path, where `~` is the home folder; None if there is none."""
    try:
        file = Path(path).expanduser()
        return file if file.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def plain_name(name: str) -> str:
    """A name in small letters, without the ending of a compression."""
    name = name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return name


def content_of(path: Path) -> bytes:
    """Bytes of a file after decompression.

    Raises:
        UserError: It cannot be read, or an archive does not hold exactly one file.
    """
    try:
        with _opened(path) as stream:
            return stream.read()
    except UNREADABLE as error:
        raise UserError(f"cannot be read: {first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """Beginning of an error's text, without the rows that Arrow quotes."""
    text, _, _ = str(error).partition("Row:")
    return " ".join(text.split())[:MAX_ERROR]


def shape_of(path: str, separator: str = "") -> tuple[int, int] | None:
    """Rows and columns of a file of Parquet or text, whose lines are counted; None for others."""
    file = file_at(path)
    if file is None:
        return None
    try:
        if file.suffix.lower() == ".parquet":
            from pyarrow import parquet

            metadata = parquet.read_metadata(file)
            return metadata.num_rows, metadata.num_columns
        if plain_name(file.name).endswith(TEXT_ENDINGS):
            with _opened(file) as stream:
                header = stream.readline()
                rows = sum(1 for line in stream if line.strip())
            counts = [header.count(letter.encode()) for letter in separator or SEPARATORS]
            return (rows, 1 + max(counts)) if rows else None
    except UNREADABLE:
        pass
    return None


def _opened(path: Path) -> Any:
    """A file whose ending names its compression, for a `with`."""
    import fsspec

    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path) as archive:
            files = len(archive.namelist())
        if files != 1:
            raise UserError(f"holds {files} files; an archive of one file is read")
    return fsspec.open(str(path), "rb", compression="infer")
