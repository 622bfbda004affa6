"""Result of a context study in a sentence."""

from __future__ import annotations

import pandas as pd

from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.titles import dataset_title, method_title
from workflow.studies.context.tables import AT_PREDICTION, IN_TRAINING, errors
from workflow.studies.errors import effect_text
from workflow.studies.sentences import NOT_PROBED

SHOWN = 0.1  # share that the sentence is about


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """The effect on each model of having about a tenth of the train rows."""
    means = errors(study)
    if means.empty:
        return NOT_PROBED
    share = _shown(means)
    clauses = []
    for method, of_method in means.groupby("method", sort=False):
        ratios = []
        for dataset, part in of_method.groupby("dataset", sort=False):
            title = dataset_title(str(dataset))
            in_training = _effect(part, IN_TRAINING, share)
            trained = f", trained on them {in_training}" if in_training else ""
            at_prediction = _effect(part, AT_PREDICTION, share) or "–"
            ratios.append(f"{title} {at_prediction}{trained}")
        title = method_title(str(method), BASE)
        clauses.append(f"{title} ({'; '.join(ratios)})")
    return (
        f"With {100 * share:g} % of the train rows at prediction, and of models trained on these "
        f"alone, RMSE is a multiple of that with all, or NLL higher by: {', '.join(clauses)}."
    )


def _shown(means: pd.DataFrame) -> float:
    """The share of the study that is nearest to a tenth, but for all rows."""
    shares = means.loc[means["share"] < 1, "share"].drop_duplicates()
    if shares.empty:
        return 1.0
    return float(shares.loc[(shares - SHOWN).abs().idxmin()])


def _effect(part: pd.DataFrame, where: str, share: float) -> str:
    """Effect of a share; empty if there is none."""
    reduced = part[(part["where"] == where) & (part["share"] == share)].dropna(subset="effect")
    if reduced.empty:
        return ""
    row = reduced.iloc[0]
    return effect_text(row["effect"], row["task"])
