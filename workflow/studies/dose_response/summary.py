"""Results of a dose-response study in sentences."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.titles import method_title
from workflow.studies.dose_response.tables import lost_skill

Shares = dict[Any, pd.Series]  # lost shares of the skill on each dataset, by method and variant


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """The median share of skill that each method loses."""
    shuffled = _lost(study, "shuffle")
    deleted = _lost(study, "delete")
    clauses = []
    for names, shares in shuffled.items():
        datasets = "one dataset" if len(shares) == 1 else f"median over {len(shares)} datasets"
        clauses.append(
            f"{method_title(*names)} loses {_percent(shares)} of its skill when all other rows are "
            f"shuffled, and {_percent(deleted[names])} when most are deleted ({datasets})."
        )
    if not clauses:
        return "No model has any skill to lose."
    return f"{' '.join(clauses)} A constant prediction corresponds to a loss of 100 %."


def _lost(study: pd.DataFrame, kind: str) -> Shares:
    shares = lost_skill(study, kind).dropna(subset="share")
    groups = shares.groupby(["method", "variant"], sort=False)["share"]
    return dict(iter(groups))


def _percent(shares: pd.Series) -> str:
    return f"{formatted(100 * shares.median(), 0)} %"
