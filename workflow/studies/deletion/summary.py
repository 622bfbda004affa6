"""Result of a deletion study in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.statistics import LEVEL
from workflow.report.titles import dataset_title, method_title
from workflow.studies.deletion.tables import deletion
from workflow.studies.sentences import NOT_PROBED


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """The fraction of its context that a prediction needs, and whether those rows are near."""
    tidy = deletion(study, scoring).tidy
    clauses = [_clause(row) for row in tidy[tidy["reason"] == ""].to_dict("records")]
    if not clauses:
        return NOT_PROBED
    return f"After deletion of all rows that a prediction does not need: {'; '.join(clauses)}."


def _clause(row: Mapping[Any, Any]) -> str:
    method = method_title(row["method"], row["variant"])
    clause = (
        f"on {dataset_title(row['dataset'])} a prediction of {method} needs "
        f"{100 * row['left']:.0f} % of its context, and {_comparison(row['p_random'])}"
    )
    if pd.isna(row["partner_kept"]):
        return clause
    return f"{clause}, and {100 * row['partner_kept']:.0f} % keep their own duplicate"


def _comparison(p_value: float) -> str:
    if pd.isna(p_value):
        return "there are too few rows for a test of their distances"
    if p_value < LEVEL:
        return f"the remaining rows are nearer than random ones (p = {p_value:.2g})"
    return f"the remaining rows are not significantly nearer than random ones (p = {p_value:.2g})"
