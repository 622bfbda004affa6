"""Result of a deletion study in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted, formatted, probability
from workflow.report.statistics import LEVEL
from workflow.report.titles import dataset_title, method_title
from workflow.studies.deletion.tables import deletion
from workflow.studies.sentences import NOT_PROBED


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """Whether the rows that a prediction needs are nearer than random ones, and their number."""
    tidy = deletion(study, scoring).tidy
    clauses = [_clause(row) for row in tidy[tidy["reason"] == ""].to_dict("records")]
    if not clauses:
        return NOT_PROBED
    return " ".join(clauses)


def _clause(row: Mapping[Any, Any]) -> str:
    model = f"{method_title(row['method'], row['variant'])} on {dataset_title(row['dataset'])}"
    rows = counted(round(row["probed"]), "test row")
    kept = f"the rows that predictions of {model} need"
    p_value = row["p_random"]
    if pd.isna(p_value):
        finding = f"Too few distances differ to compare {kept} with random ones"
    else:
        nearer = "nearer" if p_value < LEVEL else "not measurably nearer"
        distances = f"{formatted(row['kept'], 2)} against {formatted(row['random'], 2)}"
        finding = (
            f"{kept[0].upper()}{kept[1:]} are {nearer} than as many random ones (mean distance "
            f"{distances}, p = {probability(p_value)}, {rows})"
        )
    left = f"{formatted(100 * row['left'], 1)} % of the rows were left at the end of the search"
    if row["at_the_end"]:
        ended = f"{row['at_the_end']:.0f} of {rows}"
        left = f"the search ended at its least number of rows for {ended}"
    if pd.isna(row["partner_kept"]):
        return f"{finding}; {left}."
    duplicates = f"{row['partner_kept'] * row['probed']:.0f} of {rows}"
    return f"{finding}; {left}; the own duplicate of {duplicates} remains."
