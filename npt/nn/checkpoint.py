"""The state of a training on disk, so that one that was killed goes on where it was: tensors and numbers alone."""

from __future__ import annotations

import errno
import hashlib
import pickle
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from npt.atomic import partial_of
from npt.nn import distributed
from npt.nn.inputs import EncodedTable

# What reading a damaged file raises, depending on where the damage is.
DAMAGES = (
    RuntimeError,
    pickle.UnpicklingError,
    EOFError,
    AttributeError,
    TypeError,
    LookupError,
    ValueError,
    ArithmeticError,
)


class DamagedError(Exception):
    """A file is not what was written; its message is the kind of damage."""


def read_tensors(path: Path) -> dict[str, Any]:
    """Tensors and numbers by name, on the CPU; nothing else is unpickled.

    Raises:
        DamagedError: the file is not whole, or not one of tensors.
        OSError: it cannot be read.
    """
    try:
        content = torch.load(path, weights_only=True, map_location="cpu")
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise DamagedError("cut off") from None
    except DAMAGES as error:
        raise DamagedError(type(error).__name__) from None
    if not isinstance(content, dict):
        raise DamagedError(type(content).__name__)
    return content


@dataclass
class Checkpoint:
    """A file that holds the latest state of one training, written every `minutes`.

    `stamp` says which training it belongs to: the state of another one is not taken up.
    """

    path: Path
    stamp: str
    minutes: float
    written: float = field(default_factory=time.monotonic)

    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() - self.written >= 60 * self.minutes

    def write(self, state: dict[str, Any]) -> None:
        """Replace the file, as a whole; what a kill in the middle leaves is overwritten by the next one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = partial_of(self.path)
        torch.save({"stamp": self.stamp, "digest": _digest(state), **state}, partial)
        partial.replace(self.path)
        self.written = time.monotonic()

    def read(self) -> dict[str, Any] | None:
        """The state, if there is one of this training; a damaged file is said and passed over."""
        try:
            state = read_tensors(self.path)
        except FileNotFoundError:
            return None
        except DamagedError as error:
            print(f"{self.path}: not a checkpoint ({error}); training starts anew", file=sys.stderr)
            return None
        if state.pop("stamp", None) != self.stamp:
            return None
        if state.pop("digest", None) != _digest(state):
            print(
                f"{self.path}: not a checkpoint (its content was changed); training starts anew",
                file=sys.stderr,
            )
            return None
        return state


def _digest(state: dict[str, Any]) -> str:
    """A hash of all tensors and numbers, to tell a damaged file that still can be read."""
    digest = hashlib.blake2b(digest_size=16)
    for name, value in state.items():
        digest.update(name.encode())
        for part in value if isinstance(value, list) else [value]:
            content = (
                part.cpu().numpy().data if isinstance(part, torch.Tensor) else repr(part).encode()
            )
            digest.update(content)
    return digest.hexdigest()


def stamp(*facts: object, data: EncodedTable) -> str:
    """Sixteen hex digits over all that a training's result depends on: data, code, versions, processes, device and threads."""
    where = (distributed.processes(), data.codes.device.type, torch.get_num_threads())
    digest = hashlib.sha256(repr((torch.__version__, np.__version__, where, *facts)).encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    for tensor in (data.codes, data.numbers, data.missing, data.part):
        digest.update(tensor.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]
