"""Trainings that save weights, and their probes, claim a GPU and wait while all are in use."""

from __future__ import annotations

import getpass
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from npt.errors import UserError
from npt.method import Method

SHARED = "NPT_TRAININGS_PER_GPU"  # environment variable; default: 1
SECONDS = 2.0  # between two attempts
_held: list[FileLock] = []


def device(name: str, method: Method) -> str:
    """The torch device for this process: for `auto` a free GPU, if the method saves weights."""
    if name != "auto" or not method.saves_weights:
        return name
    import torch

    number = torch.cuda.device_count()
    if number == 0:
        return name
    names = gpu_names(number)
    places = [f"{name}-{place}" if place else name for place in range(shared()) for name in names]
    return f"cuda:{claim(places) % number}"


def shared() -> int:
    """How many trainings may have a GPU at once.

    Raises:
        UserError: The environment says something else than a number.
    """
    text = os.environ.get(SHARED, "1")
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"{SHARED}: {text!r} is not a number of trainings; allowed: 1 or more")
    return int(text)


def gpu_names(number: int) -> list[str]:
    """Names of the visible GPUs that are the same in all processes of this machine.

    Numbers are not: under a scheduler that confines devices, every job sees its GPU as 0. A part
    of a GPU (MIG) has the name that the environment gives it.
    """
    import torch

    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    if len(visible) == number and all(name.startswith("MIG-") for name in visible):
        return visible
    properties = [torch.cuda.get_device_properties(index) for index in range(number)]
    return [str(gpu.uuid) for gpu in properties]


def claim(gpus: Sequence[str]) -> int:
    """Index of a free GPU, locked until this process ends in a temporary folder of the user.

    Raises:
        UserError: The folder is another user's.
    """
    folder = Path(tempfile.gettempdir()) / f"npt-gpus-{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise UserError(f"{folder}: belongs to another user; remove it, or set TMPDIR")
    locks = [FileLock(folder / f"{gpu.replace('/', '_')}.lock") for gpu in gpus]
    waiting = False
    while True:
        for index, lock in enumerate(locks):
            try:
                lock.acquire(blocking=False)
            except Timeout:
                continue
            _held.append(lock)
            return index
        if not waiting:
            print(f"waiting for a GPU: {', '.join(gpus)} are in use", flush=True)
            waiting = True
        time.sleep(SECONDS)
