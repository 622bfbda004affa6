"""Checksums of text that is read back; text without one is of an earlier version."""

from __future__ import annotations

import json
import zlib
from typing import Any

SEPARATOR = ', "crc32": "'


def checksum(text: str) -> str:
    """CRC-32 of a text, as eight hex digits."""
    return f"{zlib.crc32(text.encode()):08x}"


def json_line(values: dict[str, Any]) -> str:
    """A mapping as a line of JSON, whose last key is the checksum of the line without it."""
    text = json.dumps(values)
    return f'{text[:-1]}{SEPARATOR}{checksum(text)}"}}\n'


def without_checksum(line: str) -> str:
    """The JSON of a line without its checksum.

    Raises:
        ValueError: The line is damaged.
    """
    body, separator, end = line.rstrip().rpartition(SEPARATOR)
    if not separator:
        return line
    text = body + "}"
    if end != f'{checksum(text)}"}}':
        raise ValueError("damaged")
    return text
