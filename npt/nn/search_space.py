"""A wider space around NPT's settings than the paper's eight configurations, to draw tuning trials from."""

from __future__ import annotations

import random
from typing import Any

from pydantic import ValidationError

from npt.interface import UserError
from npt.nn.settings import NPTSettings

TRIES = 1000


def draw(base: NPTSettings, seed: str) -> dict[str, Any]:
    """Changes of `base`, drawn by seed.

    The architecture, the masks and the optimisation vary; the table's batches, the number of updates and the evaluation stay,
    so that no trial costs more than twice the base. Where features are not masked they stay so.
    """
    source = random.Random(seed)
    for _ in range(TRIES):
        changes: dict[str, Any] = {
            "width": source.choice([base.width // 2, base.width, base.width]),
            "layers": source.choice([base.layers, base.layers, 2 * base.layers]),
            "heads": source.choice([base.heads // 2, base.heads, 2 * base.heads]),
            "hidden_dropout": source.choice([0.0, 0.1, 0.2]),
            "attention_dropout": source.choice([0.0, 0.1, 0.2]),
            "feature_mask": source.choice([0.1, 0.15, 0.2, 0.3]) if base.feature_mask else 0.0,
            "target_mask": source.choice([0.1, 0.15, 0.5, 1.0]),
            "learning_rate": float(f"{base.learning_rate * 10 ** source.uniform(-0.75, 0.75):.3g}"),
            "schedule_share": source.choice([0.3, 0.5, 0.7])
            if base.schedule == "flat_then_cosine"
            else base.schedule_share,
        }
        try:
            base.changed(**changes)
        except ValidationError:
            continue  # such as a width that is not a multiple of the heads
        return {key: value for key, value in changes.items() if value != getattr(base, key)}
    raise UserError(f"budget: no valid configuration was found around {base}")
