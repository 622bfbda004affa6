"""Result of an attention study in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.titles import dataset_title, method_title
from workflow.studies.attention.tables import attention
from workflow.studies.sentences import NOT_PROBED

MEANING = (
    "Nearness: mean rank correlation of attention with nearness to the query. Of unrelated queries "
    "it shows attention to rows that are near to all."
)


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """What training changed in the nearness of attention, the local heads, and duplicates."""
    tidy = attention(study, scoring).tidy
    clauses = [_clause(row) for row in tidy[tidy["reason"] == ""].to_dict("records")]
    if not clauses:
        return NOT_PROBED
    return f"{'. '.join(clauses)}. {MEANING}"


def _clause(row: Mapping[Any, Any]) -> str:
    model = f"{method_title(row['method'], row['variant'])} on {dataset_title(row['dataset'])}"
    clause = f"Of {model}, nearness is {formatted(row['nearness'], 2)}"
    if pd.notna(row["untrained"]):
        change = formatted(row["nearness"] - row["untrained"], 2, sign=True)
        untrained = formatted(row["untrained"], 2)
        clause = f"Training changes nearness of {model} by {change} from {untrained}"
    clause = f"{clause} (unrelated queries {formatted(row['typical'], 2)}"
    if row["tested"] > 0:
        clause = f"{clause}; {row['local']:.0f} of {row['tested']:.0f} heads above"
    if pd.isna(row["partner"]):
        return f"{clause})"
    return f"{clause}), and {100 * row['partner']:.0f} % of attention is on a row's own duplicate"
