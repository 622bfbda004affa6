"""Unpack safely: only the requested file, under a name of ours, up to a size."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from pathlib import Path
from typing import IO

from npt.interface import UserError

CHUNK = 1 << 20
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)  # what a truncated gzip file raises


def expand(packed: Path, target: Path, limit: int) -> None:
    """Decompress a gzip file into `target`.

    Raises:
        UserError: It is damaged, or larger than `limit` bytes.
    """
    try:
        with gzip.open(packed) as stream:
            _copy(stream, target, limit, str(packed))
    except DAMAGED as error:
        raise UserError(f"{packed}: damaged gzip file ({type(error).__name__}: {error})") from None


def take_out(archive: Path, member: str, target: Path, limit: int) -> None:
    """Write one regular file of a tar archive, compressed or not, into `target`.

    Raises:
        UserError: The archive is damaged, lacks the member or has a link in its place, or the
            member is larger than `limit` bytes.
    """
    try:
        with tarfile.open(archive) as opened:
            stream = _member(opened, archive, member)
            _copy(stream, target, limit, f"{archive}: {member}")
    except (tarfile.TarError, *DAMAGED) as error:
        raise UserError(f"{archive}: damaged archive ({type(error).__name__}: {error})") from None


def _member(opened: tarfile.TarFile, archive: Path, member: str) -> IO[bytes]:
    for info in opened:
        if info.name != member:
            continue
        stream = opened.extractfile(info) if info.isreg() else None
        if stream is None:
            raise UserError(f"{archive}: {member} is a link or a folder, not a file")
        return stream
    raise UserError(f"{archive}: has no member {member}")


def _copy(stream: IO[bytes] | gzip.GzipFile, target: Path, limit: int, shown_as: str) -> None:
    written = 0
    with target.open("wb") as output:
        while chunk := stream.read(CHUNK):
            written += len(chunk)
            if written > limit:
                raise UserError(f"{shown_as}: larger than the {limit:,} bytes allowed")
            output.write(chunk)
