"""Result of a dose response in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.titles import dataset_title
from workflow.studies.dose_response.tables import PERTURBED, doses
from workflow.studies.errors import effect_text
from workflow.studies.sentences import NOT_PROBED, by_model, listed


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """The effect on each model of the largest doses, by dataset."""
    means = doses(study)
    largest = means[means["share"] == means.groupby("kind")["share"].transform("max")]
    sentences = []
    for title, of_model in by_model(largest.dropna(subset="effect")):
        clauses = []
        for kind, rows in of_model.groupby("kind", sort=False):
            sizes = []
            for row in rows.to_dict("records"):
                metric = "RMSE" if row["task"] == "regression" else "NLL"
                size = effect_text(row["effect"], row["task"])
                sizes.append(f"{dataset_title(row['dataset'])} {metric} {size}")
            share = rows["share"].iloc[0]
            clauses.append(f"{share:.0%} {PERTURBED[str(kind)]} {listed(sizes)}".replace("%", " %"))
        sentences.append(f"{title}, other rows: {'; '.join(clauses)}.")
    return " ".join(sentences) or NOT_PROBED
