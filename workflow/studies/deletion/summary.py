"""Result of a deletion study in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted, probability
from workflow.report.statistics import LEVEL
from workflow.report.titles import dataset_title, method_title
from workflow.studies.deletion.tables import deletion
from workflow.studies.sentences import NOT_PROBED


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """How many rows a prediction can spare, and whether those that it needs are near."""
    tidy = deletion(study, scoring).tidy
    clauses = [_clause(row) for row in tidy[tidy["reason"] == ""].to_dict("records")]
    if not clauses:
        return NOT_PROBED
    return " ".join(clauses)


def _clause(row: Mapping[Any, Any]) -> str:
    method = method_title(row["method"], row["variant"])
    rows = counted(round(row["probed"]), "test row")
    deleted = f"{100 * (1 - row['left']):.0f} %"
    sentence = (
        f"On {dataset_title(row['dataset'])}, {deleted} of the other rows can be deleted with "
        f"predictions of {method} within the tolerance ({rows}, greedy search); "
        f"{_comparison(row['p_random'])}"
    )
    if pd.isna(row["partner_kept"]):
        return f"{sentence}."
    kept = f"{row['partner_kept'] * row['probed']:.0f} of {rows}"
    return f"{sentence}; the own duplicate of {kept} remains."


def _comparison(p_value: float) -> str:
    if pd.isna(p_value):
        return "too few pairs of distances differ for a test against random rows"
    nearer = "nearer" if p_value < LEVEL else "not measurably nearer"
    return f"the rows that remain are {nearer} than random ones (p = {probability(p_value)})"
