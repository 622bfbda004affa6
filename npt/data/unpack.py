"""Unpack safely: only the requested file, under a name of ours, up to a size."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from contextlib import ExitStack
from pathlib import Path

from npt.errors import UserError

CHUNK = 1 << 20
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)  # what a truncated gzip file raises


def unpack(packed: Path, member: str, target: Path, limit: int) -> None:
    """Write a gzip file, or one regular file of a tar archive, decompressed into `target`.

    Args:
        member: Path inside the archive; empty for a gzip file.
        limit: Most bytes.

    Raises:
        UserError: It is damaged or larger than `limit`, or the archive lacks the member or has a
            link in its place.
    """
    where = f"{packed}: {member}" if member else str(packed)
    try:
        with ExitStack() as stack:
            if member:
                archive = stack.enter_context(tarfile.open(packed))
                info = archive.getmember(member)
                stream = archive.extractfile(info) if info.isreg() else None
            else:
                stream = stack.enter_context(gzip.open(packed))
            if stream is None:
                raise UserError(f"{where} is a link or a folder, not a file")
            output = stack.enter_context(target.open("wb"))
            while chunk := stream.read(CHUNK):
                if output.tell() + len(chunk) > limit:
                    raise UserError(f"{where}: larger than the {limit:,} bytes allowed")
                output.write(chunk)
    except (tarfile.TarError, KeyError, *DAMAGED) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{where}: damaged ({type(error).__name__}: {reason})") from None
