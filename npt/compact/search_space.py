"""Random configurations of compact NPT around given settings."""

from __future__ import annotations

import random
from typing import Any

from pydantic import ValidationError

from npt.compact.settings import CompactSettings

DECADES = (-0.4, 0.3)  # of the learning rate around that of the base
UPDATES = (1, 1, 2)
WIDTHS = (0.5, 1.0, 1.0)
BINS = (0.25, 1.0)
LAYERS = (0.5, 1.0, 1.0)


def draw(base: CompactSettings, seed: str) -> dict[str, Any]:
    """Random changes of `base`, determined by the seed.

    Learning rate, number of updates and sizes vary. How strong the regularisation is varies within
    a training: see the kinds of members. No trial costs more than twice the base.
    """
    source = random.Random(seed)
    candidate = _candidate(base, source)
    while not _is_valid(base, candidate):
        candidate = _candidate(base, source)
    changes = {}
    for name, value in candidate.items():
        if value != getattr(base, name):
            changes[name] = value
    return changes


def _candidate(base: CompactSettings, source: random.Random) -> dict[str, Any]:
    factor = 10 ** source.uniform(*DECADES)
    return {
        "learning_rate": float(f"{base.learning_rate * factor:.3g}"),
        "updates": base.updates * source.choice(UPDATES),
        "width": int(base.width * source.choice(WIDTHS)),
        "bins": int(base.bins * source.choice(BINS)),
        "layers": int(base.layers * source.choice(LAYERS)),
    }


def _is_valid(base: CompactSettings, changes: dict[str, Any]) -> bool:
    """Whether no changed value is beyond its bound; factors of 1 are among the choices."""
    try:
        base.changed(**changes)
    except ValidationError:
        return False
    return True
