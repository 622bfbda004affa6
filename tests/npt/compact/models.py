"""Small trained compact networks that the tests of probes share."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch

from npt.compact.learner import METHOD, CompactLearner
from npt.compact.probe import CompactProbe
from npt.compact.settings import CompactSettings
from npt.compact.trained import TrainedCompactNPT
from npt.interface import Resources
from npt.perturbation import Perturbation
from npt.table import Split, Table, Task
from tests.conftest import first_split, make_table

SMALL_COMPACT = CompactSettings(**METHOD.test_settings)


def fitted(settings: CompactSettings, table: Table, split: Split) -> TrainedCompactNPT:
    """A network that was trained on the blind table."""
    learner = CompactLearner(settings, Resources())
    learner.fit(table.blind(split.test), split, 0)
    return learner.trained


@cache
def small_compact(task: Task, **changes: Any) -> tuple[TrainedCompactNPT, Table, Split]:
    """A small network whose predictions depend on other rows, its table and its split."""
    table = make_table(task)
    split = first_split(table)
    trained = fitted(SMALL_COMPACT.changed(**changes), table, split)
    with torch.no_grad():
        for parameter in trained.model.parameters():
            parameter *= 2
    return replace(trained), table, split  # without what was computed with the former weights


def context_sources(
    trained: TrainedCompactNPT, perturbation: Perturbation, seed: int, row: int
) -> np.ndarray:
    """Where each cell of a perturbed context comes from (m, d), as indices of the context."""
    (group,) = CompactProbe(trained).query_groups(np.array([row]))
    return perturbation.sources(seed, row, group.layout(0))[1:] - 1
