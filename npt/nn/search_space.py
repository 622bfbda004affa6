"""Random configurations of NPT around given settings, wider than the paper's eight."""

from __future__ import annotations

import random
from typing import Any

from pydantic import ValidationError

from npt.interface import UserError
from npt.nn.settings import NPTSettings

TRIES = 1000
DECADES = 0.75  # of the learning rate, in either direction


def draw(base: NPTSettings, seed: str) -> dict[str, Any]:
    """Random changes of `base`, determined by the seed.

    Architecture, masks and optimisation vary. Batches, number of updates and evaluation stay, so
    that no trial costs more than twice the base. Features that are not masked stay so.

    Raises:
        UserError: no valid configuration was found.
    """
    source = random.Random(seed)
    for _ in range(TRIES):
        candidate = _candidate(base, source)
        try:
            base.changed(**candidate)
        except ValidationError:
            continue  # such as a width that is not a multiple of the heads
        return _differences(candidate, base)
    raise UserError(f"budget: no valid configuration was found around {base}")


def _differences(candidate: dict[str, Any], base: NPTSettings) -> dict[str, Any]:
    changes = {}
    for key, value in candidate.items():
        if value != getattr(base, key):
            changes[key] = value
    return changes


def _candidate(base: NPTSettings, source: random.Random) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    changes["width"] = source.choice([base.width // 2, base.width, base.width])
    changes["layers"] = source.choice([base.layers, base.layers, 2 * base.layers])
    changes["heads"] = source.choice([base.heads // 2, base.heads, 2 * base.heads])
    changes["hidden_dropout"] = source.choice([0.0, 0.1, 0.2])
    changes["attention_dropout"] = source.choice([0.0, 0.1, 0.2])
    if base.feature_mask:
        changes["feature_mask"] = source.choice([0.1, 0.15, 0.2, 0.3])
    changes["target_mask"] = source.choice([0.1, 0.15, 0.5, 1.0])
    factor = 10 ** source.uniform(-DECADES, DECADES)
    changes["learning_rate"] = float(f"{base.learning_rate * factor:.3g}")
    if base.schedule == "flat_then_cosine":
        changes["schedule_share"] = source.choice([0.3, 0.5, 0.7])
    return changes
