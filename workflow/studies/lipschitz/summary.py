"""Result of a study of Lipschitz constants in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.studies.lipschitz.tables import inversion_rows, last_errors, tightness_rows
from workflow.studies.sentences import NOT_PROBED

CONVERGED = 1e-6


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """How much of the bound is reached, and which inversions converge."""
    curve = tightness_rows(study)
    if curve.empty:
        return NOT_PROBED
    last = curve.iloc[-1]
    share = 100 * last["largest"] / last["bound"]
    final = last_errors(inversion_rows(study))
    clauses = []
    for attention, part in final.groupby("attention", sort=False):
        converged = part["error"] < CONVERGED
        clauses.append(f"{attention} {converged.sum()} of {len(part)}")
    return (
        f"With {last['positions']:,.0f} positions on a line, {share:.0f} % of the bound is "
        f"reached. Inversions that converge: {', '.join(clauses)}."
    )
