"""The paper's baselines behind the same contract as NPT, one file each."""

from __future__ import annotations

import sys
from functools import cache

from baselines.declaration import Baseline
from npt.interface import Method
from npt.nn.learner import METHOD as NPT
from npt.registry import declarations


@cache
def methods() -> dict[str, Method]:
    """Every method by name: NPT, then the baselines."""
    from baselines.search import method

    return {NPT.name: NPT, **{name: method(baseline) for name, baseline in baselines().items()}}


@cache
def baselines() -> dict[str, Baseline]:
    """The declaration of every baseline by name."""
    return declarations(sys.modules[__name__], "BASELINE")
