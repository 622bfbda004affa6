"""Unpack safely: only the files asked for, under names of our own, up to a size."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from pathlib import Path
from typing import IO

from npt.interface import UserError

CHUNK = 1 << 20
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)  # what a gzip file that is not whole raises


def expand(packed: Path, target: Path, limit: int) -> None:
    """Decompress a gzip file into `target`.

    Raises:
        UserError: it is damaged, or unpacks to more than `limit` bytes.
    """
    try:
        with gzip.open(packed) as stream:
            _copy(stream, target, limit, str(packed))
    except DAMAGED as error:
        raise UserError(
            f"{packed}: not a whole gzip file ({type(error).__name__}: {error})"
        ) from None


def take_out(archive: Path, member: str, target: Path, limit: int) -> None:
    """Write one regular file of a tar archive, compressed or not, into `target`; no other name in the archive is used.

    Raises:
        UserError: it is damaged, lacks the member or has a link in its place, or the member is larger than `limit` bytes.
    """
    try:
        with tarfile.open(archive) as opened:
            info = next((info for info in opened if info.name == member), None)
            if info is None:
                raise UserError(f"{archive}: has no member {member}")
            stream = opened.extractfile(info) if info.isreg() else None
            if stream is None:
                raise UserError(
                    f"{archive}: {member} is a link or a folder, not a file; nothing was unpacked"
                )
            _copy(stream, target, limit, f"{archive}: {member}")
    except (tarfile.TarError, *DAMAGED) as error:
        raise UserError(
            f"{archive}: not a whole tar archive ({type(error).__name__}: {error})"
        ) from None


def _copy(stream: IO[bytes] | gzip.GzipFile, target: Path, limit: int, shown_as: str) -> None:
    written = 0
    with target.open("wb") as output:
        while chunk := stream.read(CHUNK):
            written += len(chunk)
            if written > limit:
                raise UserError(
                    f"{shown_as}: unpacks to more than the {limit:,} bytes allowed; nothing was kept"
                )
            output.write(chunk)
