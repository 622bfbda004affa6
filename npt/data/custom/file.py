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


def file_at(path: str) -> Path | None:
    """The file of a path, where `~` is the home folder; None if there is none."""
    try:
        file = Path(path).expanduser()
        return file if file.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def ending_of(path: Path) -> str:
    """The ending of a name in small letters, without that of a compression."""
    path = Path(path.name.lower())
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


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
        if ending_of(file) in TEXT_ENDINGS:
            with opened(file) as stream:
                header = stream.readline()
                rows = sum(1 for line in stream if line.strip())
            counts = [header.count(letter.encode()) for letter in separator or SEPARATORS]
            return (rows, 1 + max(counts)) if rows else None
    except (*UNREADABLE, UserError):  # is reported by the reading
        pass
    return None


def opened(path: Path) -> Any:
    """A file whose ending names its compression, for a `with`.

    Raises:
        UserError: An archive does not hold exactly one file.
    """
    import fsspec

    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path) as archive:
            files = len(archive.namelist())
        if files != 1:
            raise UserError(f"holds {files} files; an archive of one file is read")
    return fsspec.open(str(path), "rb", compression="infer")
