"""One run per folder, by a lock that ends with its process."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from filelock import FileLock, Timeout

from npt.interface import UserError

_held: list[FileLock] = []


def claim(folder: Path) -> None:
    """Lock a folder until this process ends, and clear Snakemake's own lock of a killed run.

    Raises:
        UserError: Another run holds the folder; its process is named.
    """
    state = folder / ".snakemake"
    state.mkdir(exist_ok=True)
    lock = FileLock(state / "npt.lock")
    owner = state / "npt.pid"
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise UserError(f"{folder}: {_holder(owner)} uses this folder; wait or stop it") from None
    owner.write_text(str(os.getpid()))
    _held.append(lock)
    shutil.rmtree(state / "locks", ignore_errors=True)


def _holder(owner: Path) -> str:
    try:
        return f"process {owner.read_text()}"
    except OSError:
        return "another run"
