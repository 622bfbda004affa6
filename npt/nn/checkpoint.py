"""The state of a training on disk, from which an interrupted one resumes."""

from __future__ import annotations

import errno
import hashlib
import signal
import sys
import threading
import time
import zipfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from npt.atomic import partial_of
from npt.nn.memory import is_lacking

LAYOUT = 4  # of a checkpoint; raised when its entries change


class DamagedError(Exception):
    """A file is not what was written; its message is the kind of damage."""


def read_tensors(path: Path) -> dict[str, Any]:
    """Tensors and numbers by name, on the CPU; nothing else is unpickled.

    The checksums of the file's parts are compared first, which torch does not do.

    Raises:
        DamagedError: the file is not whole, or not one of tensors.
        OSError: it cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
        if damaged:
            raise DamagedError(f"checksum of {damaged}")
        content = torch.load(path, weights_only=True, map_location="cpu")
    except (DamagedError, MemoryError):
        raise
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise DamagedError("cut off") from None
    except Exception as error:  # nearly any kind, depending on where the damage is
        if is_lacking(error):
            raise
        raise DamagedError(type(error).__name__) from None
    if not isinstance(content, dict):
        raise DamagedError(type(content).__name__)
    return content


@dataclass
class Checkpoint:
    """A file that holds the latest state of one training.

    Attributes:
        stamp: Identity of the training; the state of another one is not read.
        minutes: Time between two writes.
        terminated: Whether the process shall end after the next write.
    """

    path: Path
    stamp: str
    minutes: float
    written: float = field(default_factory=time.monotonic)
    terminated: bool = False

    def due(self) -> bool:
        """Whether it is time to write."""
        return self.terminated or time.monotonic() - self.written >= 60 * self.minutes

    def write(self, state: Mapping[str, Any]) -> None:
        """Replace the file atomically; the next write overwrites what a kill leaves behind.

        Raises:
            SystemExit: The process was asked to end.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = partial_of(self.path)
        torch.save({"stamp": self.stamp, **state}, partial)
        partial.replace(self.path)
        self.written = time.monotonic()
        if self.terminated:
            print(f"terminated; {self.path} has the state of the training", file=sys.stderr)
            sys.exit(128 + signal.SIGTERM)

    def read(self) -> dict[str, Any] | None:
        """The state, if there is one of this training; a damaged file is reported and ignored."""
        try:
            state = read_tensors(self.path)
        except FileNotFoundError:
            return None
        except DamagedError as error:
            print(f"{self.path}: not a checkpoint ({error}); training starts over", file=sys.stderr)
            return None
        return state if state.pop("stamp", None) == self.stamp else None


@contextmanager
def written_when_terminated(checkpoint: Checkpoint | None) -> Generator[None]:
    """Inside, SIGTERM ends the process after its checkpoint is written: preemption loses nothing.

    Without a checkpoint, or outside the main thread, the signal ends it at once.
    """
    if checkpoint is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(*_: object) -> None:
        checkpoint.terminated = True

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def stamp(*facts: object, tensors: Sequence[Tensor]) -> str:
    """Sixteen hex digits over data, versions of libraries, device, threads and other facts."""
    environment = (LAYOUT, torch.__version__, np.__version__, tensors[0].device.type)
    digest = hashlib.sha256(repr((environment, torch.get_num_threads(), facts)).encode())
    for tensor in tensors:
        digest.update(tensor.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]
