"""Atomic writes: a file is complete, what it was before, or absent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """Atomic write: a temporary path that is renamed to `path` on success, deleted on error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        mask = os.umask(0)
        os.umask(mask)
        partial.chmod(0o666 & ~mask)  # as of a new file
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Atomic write of a text in UTF-8."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")


def partial_of(path: Path) -> Path:
    """Temporary name of a large file while it is written.

    It is always the same, so that killed processes leave one such file at most.
    """
    return path.with_name(f".{path.name}.partial")
