"""One run per folder, by a lock that ends with its process, and Snakemake's beside it."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import psutil  # which Snakemake needs
from filelock import FileLock, Timeout

from npt.errors import UserError

_held: list[FileLock] = []


def claim(folder: Path) -> None:
    """Lock a folder until this process ends, and clear Snakemake's lock of a run that was killed.

    Locks of files may not reach other machines. So Snakemake's stays, unless the run that made it
    was on this machine and has ended.

    Raises:
        UserError: Another run holds the folder; its process and machine are named.
    """
    state = folder / ".snakemake"
    state.mkdir(exist_ok=True)
    lock = FileLock(state / "npt.lock")
    owner = state / "npt.owner"
    machine, process = _owner(owner)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        holder = f"process {process}" if process else "another run"
        raise UserError(f"{folder}: {holder} uses this folder; wait or stop it") from None
    locks = state / "locks"
    if locks.exists() and any(locks.iterdir()):
        if machine != socket.gethostname() or _is_alive(process):
            raise UserError(
                f"{folder}: locked by process {process} on {machine}; "
                "if it has ended, run snakemake --unlock"
            )
        shutil.rmtree(locks)
    owner.write_text(f"{socket.gethostname()} {os.getpid()}")
    _held.append(lock)


def _owner(path: Path) -> tuple[str, int]:
    """Machine and process of the last run; an unknown machine and 0 without a record."""
    try:
        machine, process = path.read_text().split()
        return machine, int(process)
    except (OSError, ValueError):
        return "an unknown machine", 0


def _is_alive(process: int) -> bool:
    """Whether the last run goes on; in a container it had the number of this process."""
    return process != os.getpid() and psutil.pid_exists(process)
