"""What a configuration chooses about its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from npt.table import Task

Ranking = Literal["shared", "paper"]


@dataclass(frozen=True)
class Scoring:
    """The metric of every task, and how methods are ranked.

    With `shared` equal means have the average of their ranks; `paper` follows the conventions of its Table 1, see
    `workflow.report.ranks`.
    """

    metrics: Mapping[Task, str]
    ranking: Ranking = "shared"
