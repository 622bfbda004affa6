"""Random numbers of a run: one seed, and from it one for every purpose and count (update, epoch).

No draw depends on an earlier one. So an interrupted run resumes at any update with the same
numbers, and draws elsewhere in the process make no difference.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import torch

PURPOSES = (
    "weights",
    "masks",
    "batches",
    "dropout",
    "evaluation",
    "augmentation",
    "tasks",
    "noise",
    "latents",
)

_generators = threading.RLock()  # held by the thread that uses torch's global generators
os.register_at_fork(after_in_child=_generators._at_fork_reinit)  # pyright: ignore


def seed_for(seed: int, purpose: str, count: int = 0) -> int:
    """An independent seed of 63 bits for a purpose of a run at a count."""
    sequence = np.random.SeedSequence((seed, PURPOSES.index(purpose), count))
    (word,) = sequence.generate_state(1, np.uint64)
    return int(word >> np.uint64(1))


def generator_for(
    seed: int,
    purpose: str,
    device: torch.device,
    count: int = 0,
) -> torch.Generator:
    """An independent generator for a purpose of a run at a count."""
    return torch.Generator(device).manual_seed(seed_for(seed, purpose, count))


@contextmanager
def isolated_randomness(device: torch.device) -> Generator[None]:
    """Restore torch's global generators after the block; other threads wait for it."""
    devices = [device] if device.type == "cuda" else []
    with _generators, torch.random.fork_rng(devices):
        yield
