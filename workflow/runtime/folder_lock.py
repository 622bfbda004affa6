"""One run per folder, by a lock that ends with its process."""

from __future__ import annotations

import shutil
from pathlib import Path

from filelock import FileLock, Timeout

from npt.interface import UserError

_held: list[FileLock] = []


def claim(folder: Path) -> None:
    """Lock a folder until this process ends, and clear Snakemake's own lock of a killed run.

    Raises:
        UserError: Another run holds the folder.
    """
    state = folder / ".snakemake"
    state.mkdir(exist_ok=True)
    lock = FileLock(state / "npt.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise UserError(f"{folder}: another run uses this folder; wait for it or stop it") from None
    _held.append(lock)
    shutil.rmtree(state / "locks", ignore_errors=True)
