"""The file of a custom dataset: its name, its bytes, and an estimate of its rows and columns."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from npt.errors import UserError

TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat")
OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
COMPRESSED = (*OPENERS, ".zip")
SEPARATORS = ",;\t|"
UNREADABLE = (
    OSError,
    EOFError,
    RuntimeError,  # of an encrypted zip, or one of an unknown method
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)
CHUNK = 1 << 20
MOST_UNPACKED = 1 << 31
SAMPLE_BYTES = 1 << 18
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
        UserError: It cannot be read, unpacks to too many bytes, or an archive does not hold
            exactly one file.
    """
    ending = path.suffix.lower()
    content = io.BytesIO()
    try:
        with ExitStack() as stack:
            if ending == ".zip":
                archive = stack.enter_context(zipfile.ZipFile(path))
                members = [member for member in archive.namelist() if not member.endswith("/")]
                if len(members) != 1:
                    raise UserError(f"holds {len(members)} files; an archive of one file is read")
                stream = archive.open(members[0])
            elif ending in OPENERS:
                stream = OPENERS[ending](path, "rb")
            else:
                return path.read_bytes()
            stack.enter_context(stream)
            while chunk := stream.read(CHUNK):
                if content.tell() + len(chunk) > MOST_UNPACKED:
                    raise UserError(
                        f"unpacks to more than {MOST_UNPACKED:,} bytes; unpack it first"
                    )
                content.write(chunk)
        return content.getvalue()
    except UNREADABLE as error:
        raise UserError(f"cannot be read: {first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """Beginning of an error's text, without the rows that Arrow quotes."""
    text, _, _ = str(error).partition("Row:")
    return " ".join(text.split())[:MAX_ERROR]


def estimated_shape(path: str, separator: str = "") -> tuple[int, int] | None:
    """Rows and columns of a table; None if they cannot be told.

    Those of Parquet are exact. Of text, the rows follow from the size and the first lines.
    """
    file = file_at(path)
    if file is None:
        return None
    try:
        if file.suffix.lower() == ".parquet":
            from pyarrow import parquet

            metadata = parquet.read_metadata(file)
            return metadata.num_rows, metadata.num_columns
        if plain_name(file.name).endswith(TEXT_ENDINGS) and file.suffix.lower() != ".zip":
            return _shape_of_text(file, separator or SEPARATORS)
    except (ValueError, *UNREADABLE):  # errors of Arrow are ValueErrors
        pass
    return None


def _shape_of_text(file: Path, separators: str) -> tuple[int, int] | None:
    ending = file.suffix.lower()
    with OPENERS.get(ending, open)(file, "rb") as stream:
        sample: bytes = stream.read(SAMPLE_BYTES)
    lines = [line for line in sample.splitlines() if line.strip()]
    if not lines:
        return None
    columns = 1 + max(lines[0].count(letter.encode()) for letter in separators)
    if len(sample) < SAMPLE_BYTES:
        return len(lines) - 1, columns
    size: float = file.stat().st_size
    if ending in OPENERS:
        size *= len(sample) / len(zlib.compress(sample))
    return round(size * len(lines) / len(sample)), columns
