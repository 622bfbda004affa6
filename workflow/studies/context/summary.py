"""Result of a context study in a sentence."""

from __future__ import annotations

import pandas as pd

from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.titles import dataset_title, method_title
from workflow.studies.context.tables import AT_PREDICTION, IN_TRAINING, errors
from workflow.studies.sentences import NOT_PROBED

SHOWN = 0.1  # share that the sentence is about


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """By what the error of each model is multiplied with about a tenth of the train rows."""
    means = errors(study)
    if means.empty:
        return NOT_PROBED
    share = _shown(means)
    clauses = []
    for method, of_method in means.groupby("method", sort=False):
        ratios = []
        for dataset, part in of_method.groupby("dataset", sort=False):
            title = dataset_title(str(dataset))
            in_training = _ratio(part, IN_TRAINING, share)
            trained = f", trained on them {in_training}" if in_training else ""
            at_prediction = _ratio(part, AT_PREDICTION, share) or "–"
            ratios.append(f"{title} {at_prediction}{trained}")
        title = method_title(str(method), BASE)
        clauses.append(f"{title} ({'; '.join(ratios)})")
    return (
        f"With {100 * share:g} % of the train rows at prediction, and of models trained on these "
        f"alone, the error is a multiple of that with all: {', '.join(clauses)}."
    )


def _shown(means: pd.DataFrame) -> float:
    """The share of the study that is nearest to a tenth, but for all rows."""
    shares = means.loc[means["share"] < 1, "share"].drop_duplicates()
    if shares.empty:
        return 1.0
    return float(shares.loc[(shares - SHOWN).abs().idxmin()])


def _ratio(part: pd.DataFrame, where: str, share: float) -> str:
    """Error at a share over that with all rows, of the same test rows; empty if there is none."""
    intact = part.loc[(part["where"] == where) & (part["share"] == 1), "error"]
    reduced = part.loc[(part["where"] == where) & (part["share"] == share), "error"]
    if reduced.empty or not intact.iloc[0]:
        return ""
    return formatted(float(reduced.iloc[0] / intact.iloc[0]), 2)
