"""Random configurations of compact NPT around given settings."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

from npt.compact.settings import CompactSettings
from npt.nn.search_space import draw_valid

DECADES = (-0.4, 0.3)  # of the learning rate around that of the base


def _candidate(base: CompactSettings, source: random.Random) -> dict[str, Any]:
    """Learning rate, number of updates and sizes vary.

    How strong the regularisation is varies within a training: see the kinds of members. No trial
    costs more than twice the base.
    """
    factor = 10 ** source.uniform(*DECADES)
    return {
        "learning_rate": float(f"{base.learning_rate * factor:.3g}"),
        "updates": base.updates * source.choice((1, 1, 2)),
        "width": int(base.width * source.choice((0.5, 1.0, 1.0))),
        "bins": int(base.bins * source.choice((0.25, 1.0))),
        "layers": int(base.layers * source.choice((0.5, 1.0, 1.0))),
    }


draw = partial(draw_valid, _candidate)
