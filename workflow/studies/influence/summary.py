"""Result of a study of influence in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.titles import dataset_title, method_title
from workflow.studies.influence.tables import influences
from workflow.studies.sentences import NOT_PROBED


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """Largest influence of every model, with its certificate."""
    means = influences(study)
    if means.empty:
        return NOT_PROBED
    clauses = []
    for row in means.to_dict("records"):
        title = method_title(row["method"], row["variant"])
        certified = "no certificate"
        if pd.notna(row["bound"]):
            certified = f"at most {row['bound']:.2g} is certified"
        largest = f"{row['largest_influence']:.2g}"
        clauses.append(f"{title} on {dataset_title(row['dataset'])} {largest} ({certified})")
    return (
        "One other row moves a prediction, in standard deviations of the target or in probability, "
        f"by as much as: {'; '.join(clauses)}."
    )
