"""Weights of a network: initial ones, and those in a file."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from npt.interface import UserError
from npt.nn.checkpoint import DamagedError, read_tensors
from npt.seeding import isolated_randomness, seed_for


@contextmanager
def initial_weights(seed: int) -> Generator[None]:
    """A network that is built inside has the initial weights of a run, whatever its device."""
    with isolated_randomness(torch.device("cpu")):
        key = seed_for(seed, "weights")
        torch.default_generator.manual_seed(key)
        yield


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Weights and buffers of a network by name, on the CPU."""
    return {name: tensor.cpu() for name, tensor in model.state_dict().items()}


@contextmanager
def reading_weights(path: Path) -> Generator[dict[str, Any]]:
    """Tensors of a file, to be set inside; nothing else is unpickled.

    Raises:
        UserError: the file is damaged, or holds the weights of another model.
    """
    try:
        yield read_tensors(path)
    except torch.OutOfMemoryError:
        raise
    except DamagedError as error:
        raise _not_weights(path, str(error)) from None
    except (RuntimeError, KeyError, AttributeError):
        raise _not_weights(path, "other names or shapes") from None


def _not_weights(path: Path, reason: str) -> UserError:
    return UserError(
        f"{path}: not the weights of this model ({reason}); remove the file and re-run"
    )
