"""Read tables of delimited text: compressed or not, with or without a header."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npt.interface import UserError

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat")
OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
COMPRESSED = (*OPENERS, ".zip")
SEPARATORS = ",;\t|"
BLANK = " "
MAX_COLUMNS = 10_000
HEADER_BYTES = 4 << 20
UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
LEADING_ZERO = r"^[-+]?0[0-9]"  # of a code, as numbers are not written


@dataclass(frozen=True)
class Form:
    """How a table is written; empty where it is to be inferred.

    Attributes:
        separator: A character; a blank stands for any number of blanks.
        decimal: Decimal point of numbers.
        names: Names of the columns of a file without a header.
        missing: Cells that are null.
        as_text: Columns that stay text.
    """

    separator: str = ""
    decimal: str = "."
    names: Sequence[str] = ()
    missing: Sequence[str] = ()
    as_text: Collection[str] = ()


def is_delimited(name: str) -> bool:
    """Whether a file of a name is text, compressed or not."""
    return plain_name(name).endswith(TEXT_ENDINGS)


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
    ending = path.suffix.lower()
    try:
        if ending == ".zip":
            return _only_member(path)
        opener = OPENERS.get(ending, open)
        with opener(path, "rb") as stream:
            return stream.read()
    except UNREADABLE as error:
        raise UserError(f"cannot be read: {first_line(error)}") from None


def read_delimited(content: bytes, name: str, form: Form) -> pa.Table:
    """Columns of a text.

    Numbers with leading zeros are codes, and stay text.

    Args:
        name: Name of the file without compression, whose ending may tell the separator.

    Raises:
        UserError: What is wrong, without the name of the file.
    """
    content = _without_comments(content)
    header = _first_line_of(content)
    separator = form.separator or _separator_of(header, name)
    columns = _column_count(header, separator)
    if columns > MAX_COLUMNS:
        raise UserError(f"has {columns:,} columns or more; at most {MAX_COLUMNS:,} are allowed")
    if form.names and len(form.names) != columns:
        raise UserError(f"names: {len(form.names)} names for {columns} columns")
    if separator == BLANK:
        content = re.sub(rb"[ \t]+", b" ", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", content))
    table = _parsed(content, separator, form, form.as_text)
    require_names([name.strip() for name in table.column_names])
    codes = _codes(content, separator, form, table)
    if codes:
        table = _parsed(content, separator, form, {*form.as_text, *codes})
    return table


def _only_member(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.namelist() if not member.endswith("/")]
        if len(members) != 1:
            raise UserError(f"holds {len(members)} files; an archive of one file is read")
        return archive.read(members[0])


def _without_comments(content: bytes) -> bytes:
    """Text without lines at its start that begin with # and have fewer cells than the next."""
    while content.startswith(b"#"):
        comment, _, rest = content.partition(b"\n")
        following = rest.partition(b"\n")[0]
        if _most_separators(comment) >= _most_separators(following) > 0:
            return content
        content = rest
    return content


def _most_separators(line: bytes) -> int:
    return max(line.count(letter.encode()) for letter in SEPARATORS)


def _first_line_of(content: bytes) -> str:
    line = content[:HEADER_BYTES].partition(b"\n")[0].partition(b"\r")[0]
    if not line.strip():
        raise UserError("has an empty line instead of a header")
    if b"\0" in line:
        raise UserError("is not text (it has zero bytes)")
    truncated = len(line) == HEADER_BYTES
    try:
        return line.decode("utf-8-sig", errors="replace" if truncated else "strict")
    except UnicodeDecodeError:
        raise UserError("has a header that is not UTF-8; save the file as UTF-8") from None


def _separator_of(header: str, name: str) -> str:
    if name.endswith((".tsv", ".tab")):
        return "\t"
    unquoted = re.sub(r'"[^"]*"', "", header)
    separator = max(SEPARATORS, key=unquoted.count)
    words = unquoted.split()
    if separator not in unquoted and len(words) > 1:
        raise UserError(
            f"has one column {header.strip()!r}; name its separator, such as `separator: ' '`"
        )
    return separator


def _column_count(header: str, separator: str) -> int:
    if separator == BLANK:
        return len(header.split())
    return re.sub(r'"[^"]*"', "", header).count(separator) + 1


def _parsed(content: bytes, separator: str, form: Form, as_text: Collection[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    names = list(form.names) or None
    try:
        return csv.read_csv(
            io.BytesIO(content),
            csv.ReadOptions(use_threads=False, column_names=names),
            csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            csv.ConvertOptions(
                null_values=form.missing,
                decimal_point=form.decimal,
                column_types=dict.fromkeys(as_text, pa.string()),
            ),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(
            f"cannot be read as UTF-8 text separated by {separator!r}: {first_line(error)}"
        ) from None


def _codes(content: bytes, separator: str, form: Form, table: pa.Table) -> list[str]:
    """Columns that were read as whole numbers although some cell has a leading zero."""
    import pyarrow as pa
    import pyarrow.compute

    whole = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    if not whole or not re.search(rb"(?:^|[^0-9.])0[0-9]", content):
        return []
    texts = _parsed(content, separator, form, {*form.as_text, *whole})
    pc: Any = pyarrow.compute
    codes = []
    for name in whole:
        trimmed = pc.utf8_trim_whitespace(texts[name])
        if pc.any(pc.match_substring_regex(trimmed, LEADING_ZERO)).as_py():
            codes.append(name)
    return codes


def require_names(names: Sequence[str]) -> None:
    """Column names are few enough, printable and unique."""
    if len(names) > MAX_COLUMNS:
        raise UserError(f"has {len(names):,} columns; at most {MAX_COLUMNS:,} are allowed")
    numbers: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if name and name in numbers:
            raise UserError(f"columns {numbers[name]} and {number} are both named {name!r}")
        if not name.isprintable():
            raise UserError(f"column {number} has a line break or the like in its name {name!r}")
        numbers[name] = number


def first_line(error: BaseException) -> str:
    """Beginning of an error's text, without the rows that Arrow quotes."""
    text, _, _ = str(error).partition("Row:")
    return " ".join(text.split())[:200]
