"""Fast implementations of what the network and its optimiser compute, behind one switch.

Every kernel has a plain counterpart that reads like its equation. Both give the same numbers up to
rounding; with dropout, they draw from different random number generators.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

_enabled = True


def is_fast() -> bool:
    """Whether the fast implementations are in use, as they are by default."""
    return _enabled


@contextmanager
def fast() -> Generator[None]:
    """Use the fast implementations inside the block."""
    yield from _switched(True)


@contextmanager
def plain() -> Generator[None]:
    """Use the plain implementations inside the block."""
    yield from _switched(False)


def _switched(enabled: bool) -> Generator[None]:
    global _enabled
    before = _enabled
    _enabled = enabled
    try:
        yield
    finally:
        _enabled = before
