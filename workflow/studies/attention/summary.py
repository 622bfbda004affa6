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

LEARNED = "A correlation that is as large before training is not learned."


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """How many heads are local, and the attention to duplicates."""
    tidy = attention(study, scoring).tidy
    clauses = [_clause(row) for row in tidy[tidy["reason"] == ""].to_dict("records")]
    if not clauses:
        return NOT_PROBED
    return f"Attention between datapoints: {'; '.join(clauses)}. {LEARNED}"


def _clause(row: Mapping[Any, Any]) -> str:
    title = method_title(row["method"], row["variant"])
    model = f"{title} on {dataset_title(row['dataset'])}"
    correlations = (
        f"mean rank correlation {formatted(row['nearness'], 2)}, for unrelated queries "
        f"{formatted(row['typical'], 2)}"
    )
    if pd.notna(row["untrained"]):
        correlations += f", before training {formatted(row['untrained'], 2)}"
    if not row["tested"] > 0:
        clause = f"too few rows to test the heads of {model} ({correlations})"
    else:
        heads = f"{row['local']:.0f} of {row['tested']:.0f} heads of {model}"
        clause = f"{heads} attend more to rows near the query ({correlations})"
        if row["heads"] == 1:
            more = "larger" if row["local"] else "not measurably larger"
            clause = f"the weights of {model} are {more} for rows near the query ({correlations})"
    if pd.isna(row["partner"]):
        return clause
    return f"{clause}, and a row's own duplicate gets {100 * row['partner']:.0f} % of the attention"
