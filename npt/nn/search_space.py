"""Random configurations of NPT around given settings, wider than the paper's eight."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError

from npt.errors import UserError
from npt.nn.settings import NPTSettings

TRIES = 1000
DECADES = 0.75  # of the learning rate, in either direction

Settings = TypeVar("Settings", bound=Any)


def draw_valid(
    candidate: Callable[[Settings, random.Random], dict[str, Any]], base: Settings, seed: str
) -> dict[str, Any]:
    """The first valid of random candidates, determined by the seed, as changes of `base`.

    Raises:
        UserError: no valid configuration was found.
    """
    source = random.Random(seed)
    for _ in range(TRIES):
        values = candidate(base, source)
        try:
            base.changed(**values)
        except ValidationError:
            continue  # such as a width that is not a multiple of the heads
        return {name: value for name, value in values.items() if value != getattr(base, name)}
    raise UserError(f"budget: no valid configuration was found around {base}")


def _candidate(base: NPTSettings, source: random.Random) -> dict[str, Any]:
    """Architecture, masks and optimisation vary.

    Batches, number of updates and evaluation stay, so that no trial has more than twice the matrix
    products of the base. Features that are not masked stay so.
    """
    choose = source.choice
    changes: dict[str, Any] = {
        "width": choose([base.width // 2, base.width, base.width]),
        "layers": choose([base.layers, base.layers, 2 * base.layers]),
        "heads": choose([base.heads // 2, base.heads, 2 * base.heads]),
        "hidden_dropout": choose([0.0, 0.1, 0.2]),
        "attention_dropout": choose([0.0, 0.1, 0.2]),
    }
    if base.feature_mask:
        changes["feature_mask"] = choose([0.1, 0.15, 0.2, 0.3])
    changes["target_mask"] = choose([0.1, 0.15, 0.5, 1.0])
    factor = 10 ** source.uniform(-DECADES, DECADES)
    changes["learning_rate"] = float(f"{base.learning_rate * factor:.3g}")
    if base.schedule == "flat_then_cosine":
        changes["schedule_share"] = choose([0.3, 0.5, 0.7])
    return changes


draw = partial(draw_valid, _candidate)
