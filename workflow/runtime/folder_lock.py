"""One run per folder: a lock that dies with its process, unlike Snakemake's own, so that a killed run leaves none."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

from npt.interface import UserError

_held: list[int] = []


def claim(folder: Path) -> None:
    """Take the folder for this process until it ends, and clear what a killed run left of Snakemake's lock.

    Raises:
        UserError: another run has it.
    """
    state = folder / ".snakemake"
    state.mkdir(exist_ok=True)
    handle = os.open(state / "npt.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
        os.close(handle)
        raise UserError(
            f"{folder}: another run (process {owner}) is using this folder; wait for it or stop it"
        ) from None
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    _held.append(handle)
    shutil.rmtree(state / "locks", ignore_errors=True)
