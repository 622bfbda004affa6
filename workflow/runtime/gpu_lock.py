"""Every training claims a GPU, or a place on one that small trainings share.

It waits while all are in use.
"""

from __future__ import annotations

import getpass
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock, Timeout

_held: list[FileLock] = []


def device(name: str, *, places: int = 1, is_small: bool = False) -> str:
    """The torch device for this process: a free GPU for `auto` where there is one.

    Args:
        places: Trainings that may share a GPU.
        is_small: Whether this one may share it.
    """
    if name != "auto":
        return name
    import torch

    number = torch.cuda.device_count()
    if number == 0:
        return name
    return f"cuda:{claim(gpu_names(number), places=places, is_small=is_small)}"


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


def claim(
    gpus: Sequence[str],
    folder: Path | None = None,
    seconds: float = 2.0,
    *,
    places: int = 1,
    is_small: bool = False,
) -> int:
    """Index of a GPU with a free place, locked until this process ends.

    A small training takes one place. Any other takes all places of a GPU: the first as soon as it
    is free, then it waits for the small ones on the others. All take the first place first, so that
    none waits for a place of another that waits.

    Args:
        folder: Folder of the locks; default: one per user in the temporary folder.
        seconds: Time between two attempts.
        places: Trainings that may share a GPU.
        is_small: Whether this one may share it.
    """
    if folder is None:
        folder = Path(tempfile.gettempdir()) / f"npt-gpus-{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    names = [gpu.replace("/", "_") for gpu in gpus]
    wanted = range(places) if is_small else range(1)
    index = _first_free(names, folder, seconds, wanted)
    if not is_small:
        for place in range(1, places):
            _first_free([names[index]], folder, seconds, range(place, place + 1))
    return index


def _first_free(
    gpus: Sequence[str],
    folder: Path,
    seconds: float,
    places: Sequence[int],
) -> int:
    """Index of the first GPU on which one of some places is free, which is taken."""
    waiting = False
    while True:
        for place in reversed(places):  # the first place last, which large trainings need
            for index, gpu in enumerate(gpus):
                if _takes(folder / _lock_name(gpu, place)):
                    return index
        if not waiting:
            print(f"waiting for a GPU: {', '.join(gpus)} are in use", flush=True)
            waiting = True
        time.sleep(seconds)


def _lock_name(gpu: str, place: int) -> str:
    return f"{gpu}.lock" if place == 0 else f"{gpu}.{place}.lock"


def _takes(path: Path) -> bool:
    """Whether a lock was free; it is held until this process ends."""
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    _held.append(lock)
    return True
