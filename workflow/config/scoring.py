"""Metrics and ranking of the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from npt.table import Task

Ranking = Literal["shared", "paper"]


@dataclass(frozen=True)
class Scoring:
    """Metric of each task, and the ranking.

    With `shared` equal means have the average of their ranks; `paper` follows the conventions of
    the paper's Table 1, see `workflow.presentation.ranks`.
    """

    metrics: Mapping[Task, str]
    ranking: Ranking = "shared"
