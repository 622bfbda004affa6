"""One seed for a run, and from it one for every purpose and every count of it: an update, an epoch.

Nothing is carried from one draw to the next, so that a run can go on from any update as if it had never stopped, and whatever
else drew numbers before makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

PURPOSES = ("weights", "masks", "batches", "dropout", "evaluation", "augmentation")


def seed_for(seed: int, purpose: str, count: int = 0) -> int:
    """An independent seed of 63 bits for one purpose of a run, at one count of it."""
    words = np.random.SeedSequence((seed, PURPOSES.index(purpose), count)).generate_state(
        1, np.uint64
    )
    return int(words[0] >> np.uint64(1))


def generator_for(seed: int, purpose: str, device: torch.device, count: int = 0) -> torch.Generator:
    """A generator of its own for one purpose of a run, at one count of it."""
    return torch.Generator(device).manual_seed(seed_for(seed, purpose, count))


@contextmanager
def isolated_randomness(device: torch.device) -> Iterator[None]:
    """What happens to torch's own generators inside the block is undone after it."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        yield
