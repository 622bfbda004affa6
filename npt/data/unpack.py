"""Unpack a file whose content is checked by its sha256 afterwards."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import zlib
from contextlib import ExitStack
from pathlib import Path

from npt.errors import UserError

DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)  # what a truncated gzip file raises


def unpack(packed: Path, member: str, target: Path) -> None:
    """Write a gzip file, or one regular file of a tar archive, decompressed into `target`.

    Args:
        member: Path inside the archive; empty for a gzip file.

    Raises:
        UserError: It is damaged, or the archive lacks the file.
    """
    try:
        with ExitStack() as stack:
            if member:
                archive = stack.enter_context(tarfile.open(packed))
                stream = archive.extractfile(member)
                assert stream is not None, f"{member} is a folder"
            else:
                stream = stack.enter_context(gzip.open(packed))
            output = stack.enter_context(target.open("wb"))
            shutil.copyfileobj(stream, output)
    except (tarfile.TarError, KeyError, *DAMAGED) as error:
        where = f"{packed}: {member}" if member else packed
        raise UserError(f"{where}: damaged ({type(error).__name__}: {error})") from None
