"""Dependence and benefit in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.studies.benefit.information import OTHER_ROWS
from workflow.studies.benefit.tables import effects
from workflow.studies.corruption.selection import EVERYTHING
from workflow.studies.corruption.summary import NO_VERDICT, failed_controls
from workflow.studies.corruption.tables import effects_of
from workflow.studies.sentences import (
    NOT_PROBED,
    by_model,
    effects_in_words,
    extents,
    listed,
    power,
)
from workflow.studies.study_kind import Card

QUESTION = "Does training with other rows help?"


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """For each method with twins and each source: what is lost when permuted and when absent."""
    tidy = effects(study, scoring)
    compared = tidy[tidy["benefits"].notna()]
    if compared.empty:
        return NOT_PROBED
    sentences = []
    for title, of_model in by_model(compared):
        for source, rows in of_model.groupby("source", sort=False):
            benefit = effects_in_words(rows, "benefits", "benefits_worse")
            sentence = f"{title}, {source}: retrained without, {benefit}"
            if rows["depends"].notna().any():
                sentence += f"; permuted, {effects_in_words(rows, 'depends', 'depends_worse')}"
            sentences.append(f"{sentence}.")
    return " ".join([*sentences, *power(compared)])


def cards(study: pd.DataFrame, scoring: Scoring) -> list[Card]:
    """What training without other rows costs; no verdict where a control fails.

    Labels of other rows are a part of other rows, and no further case.
    """
    tidy = effects(study, scoring)
    known = tidy[tidy["benefits"].notna() & (tidy["source"] == OTHER_ROWS.title)]
    if known.empty:
        return []
    verdicts = []
    permuted = []
    for title, rows in by_model(known):
        benefit = effects_in_words(rows, "benefits", "benefits_worse")
        verdicts.append(f"{title}: {extents(rows['benefits'])} ({benefit})")
        if rows["depends"].notna().any():
            permuted.append(f"{title} {effects_in_words(rows, 'depends', 'depends_worse')}")
    evidence = "Test error of a twin that is trained without other rows, over that of the model."
    if permuted:
        evidence += f" With other rows permuted instead: {'; '.join(permuted)}."
    failures = list(failed_controls(effects_of(study[study["variant"] == BASE], [EVERYTHING])))
    verdict = NO_VERDICT.format(listed(failures)) if failures else "; ".join(verdicts)
    return [Card(QUESTION, verdict, " ".join([evidence, *power(known)]))]
