"""The paper's baselines and further methods, with the same contract as NPT, one file each."""

from __future__ import annotations

from functools import cache

from baselines.baseline import Baseline
from npt.compact.learner import METHOD as COMPACT_NPT
from npt.errors import UserError
from npt.method import Method
from npt.nn.learner import METHOD as NPT
from npt.processes.learner import METHODS as PROCESSES
from npt.registry import declarations


@cache
def methods() -> dict[str, Method]:
    """Every method by name: NPT and compact NPT, the baselines, then processes."""
    from baselines.tuned import method

    registered = {NPT.name: NPT, COMPACT_NPT.name: COMPACT_NPT}
    for name, baseline in baselines().items():
        try:
            registered[name] = method(baseline)
        except AttributeError as error:
            raise UserError(f"baselines/{name}.py: {error}") from None
    for process in PROCESSES:
        registered[process.name] = process
    return registered


@cache
def baselines() -> dict[str, Baseline]:
    """Every baseline by name."""
    return declarations(__name__, "BASELINE")
