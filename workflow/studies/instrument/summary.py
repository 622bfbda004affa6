"""Result of an instrument study in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted
from workflow.report.titles import dataset_title, method_title
from workflow.studies.instrument.tables import instrument
from workflow.studies.sentences import NOT_PROBED


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """How many checks the probes pass, and which they do not."""
    tidy = instrument(study, scoring).tidy
    tidy = tidy[tidy["reason"] == ""]
    if tidy.empty:
        return NOT_PROBED
    passed = int(tidy["passes"].astype(bool).sum())
    sentence = (
        f"Of models whose answer is known, the probes find it in {passed} of "
        f"{counted(len(tidy), 'check')}."
    )
    differing = []
    for row in tidy[~tidy["passes"].astype(bool)].to_dict("records"):
        title = method_title(row["method"], row["variant"])
        differing.append(
            f"{title} on {dataset_title(row['dataset'])} ({row['check']} {row['measured']:.3g})"
        )
    if differing:
        sentence += f" They differ for {', '.join(differing)}."
    return sentence
