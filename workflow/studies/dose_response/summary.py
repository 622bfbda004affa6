"""Result of a dose response in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.titles import dataset_title, method_title
from workflow.studies.dose_response.tables import doses, ratio_of_errors
from workflow.studies.sentences import NOT_PROBED, listed

METHOD = ["method", "variant"]


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """By what each model's error is multiplied at the largest doses."""
    sentences = []
    for (method, variant), of_method in doses(study).groupby(METHOD, sort=False):
        titles = []
        parts = []
        for dataset, part in of_method.groupby("dataset", sort=False):
            titles.append(dataset_title(str(dataset)))
            parts.append(part)
        datasets = listed(titles)
        shuffled = _ratios(parts, "shuffle")
        deleted = _ratios(parts, "delete")
        largest = _largest_share(of_method, "delete")
        title = method_title(str(method), str(variant))
        sentences.append(
            f"{title}: shuffling all other rows multiplies the error by {shuffled}, deleting "
            f"{largest} of them by {deleted} ({datasets})."
        )
    return " ".join(sentences) or NOT_PROBED


def _ratios(parts: list[pd.DataFrame], kind: str) -> str:
    ratios = [formatted(ratio_of_errors(part, kind), 2) for part in parts]
    return listed(ratios)


def _largest_share(part: pd.DataFrame, kind: str) -> str:
    return f"{100 * part.loc[part['kind'] == kind, 'share'].max():.0f} %"
