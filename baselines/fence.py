"""A fence around libraries that seed global generators and print."""

from __future__ import annotations

import contextlib
import io
import logging
import random
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def fenced() -> Iterator[None]:
    """Restore the global random states afterwards; show neither messages nor warnings."""
    import torch

    python_state = random.getstate()
    numpy_state = np.random.get_state()
    lightning = logging.getLogger("pytorch_lightning")
    level = lightning.level
    lightning.setLevel(logging.ERROR)
    try:
        with (
            torch.random.fork_rng(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(action="ignore"),
        ):
            yield
    finally:
        lightning.setLevel(level)
        random.setstate(python_state)
        np.random.set_state(numpy_state)
