"""The state of a training on disk, so that one that was killed goes on where it was: tensors and numbers alone."""

from __future__ import annotations

import hashlib
import pickle
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from npt.cells import Encoded
from npt.files import replacing

# What reading a damaged file raises, depending on where the damage is.
DAMAGED = (
    OSError, RuntimeError, pickle.UnpicklingError, EOFError, AttributeError, TypeError, LookupError, ValueError,
    ArithmeticError,
)  # fmt: skip


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
        """Replace the file, as a whole."""
        with replacing(self.path) as partial:
            torch.save({"stamp": self.stamp, **state}, partial)
        self.written = time.monotonic()

    def read(self, device: torch.device) -> dict[str, Any] | None:
        """The state, if there is one of this training; a damaged file is said and passed over."""
        try:
            state = torch.load(self.path, weights_only=True, map_location=device)
            return state if state["stamp"] == self.stamp else None
        except FileNotFoundError:
            return None
        except DAMAGED as error:
            print(f"{self.path}: not a checkpoint ({type(error).__name__}); training starts anew", file=sys.stderr)
            return None

    def remove(self) -> None:
        """Remove the file of a training that is over."""
        self.path.unlink(missing_ok=True)


def stamp(*facts: object, data: Encoded) -> str:
    """Sixteen hex digits over what a training's result depends on."""
    digest = hashlib.sha256(repr((torch.__version__, *facts)).encode())
    for tensor in (data.codes, data.numbers, data.missing, data.part):
        digest.update(tensor.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]
