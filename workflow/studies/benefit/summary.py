"""Dependence and benefit in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted
from workflow.report.fold_tests import FEWEST_FOLDS
from workflow.report.statistics import LEVEL
from workflow.report.titles import dataset_title, method_title
from workflow.studies.benefit.tables import effects, power
from workflow.studies.sentences import NOT_PROBED, listed
from workflow.studies.study_kind import Card

QUESTION = "Does training with other rows help?"
CASE = ["method", "variant", "source"]
UNTESTED = "What is lost without a source of information is in the table."


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """For each method with twins and each source: on which datasets a loss differs from zero."""
    tidy = effects(study, scoring)
    compared = tidy[tidy["benefits"].notna()]
    if compared.empty:
        return NOT_PROBED
    tested = _tested(tidy)
    sentences = []
    for _, part in tested.groupby(CASE, sort=False):
        clauses = [f"{_where(part, 'benefits')} when retrained without"]
        if part["depends"].notna().any():
            clauses.insert(0, f"{_where(part, 'depends')} when permuted")
        case = part.iloc[0]
        name = f"{method_title(case['method'], case['variant'])}, {case['source']}"
        sentences.append(f"{name}: significantly worse {', '.join(clauses)}.")
    return " ".join([*(sentences or [UNTESTED]), *power(compared)])


def cards(study: pd.DataFrame, scoring: Scoring) -> list[Card]:
    """Whether dependence comes with a benefit."""
    evidence = headline(study, scoring)
    if not evidence:
        return []
    tested = _dependences(study, scoring)
    dependent = tested[_is_worse(tested, "depends")]
    is_worse = _is_worse(dependent, "benefits")
    cases = counted(len(tested), "case")
    verdict = f"In {is_worse.sum()} of {cases}"
    return [Card(QUESTION, verdict, evidence)]


def headline(study: pd.DataFrame, scoring: Scoring) -> str:
    """How often a significant dependence comes with a significant benefit, in a sentence."""
    tested = _dependences(study, scoring)
    if tested.empty:
        return ""
    dependent = tested[_is_worse(tested, "depends")]
    total = counted(len(tested), "case")
    models = tested[["method", "variant"]].drop_duplicates().itertuples(index=False)
    titles = listed([method_title(*names) for names in models])
    sentence = (
        f"{titles} with other rows, or their labels, permuted: significantly worse in "
        f"{len(dependent)} of {total} (dataset and source)"
    )
    if dependent.empty:
        return f"{sentence}."
    benefiting = int(_is_worse(dependent, "benefits").sum())
    return f"{sentence}; retrained without them, in {benefiting}."


def _dependences(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """Tested cases whose source can be permuted."""
    tested = _tested(effects(study, scoring))
    return tested[tested["depends"].notna()]


def _tested(tidy: pd.DataFrame) -> pd.DataFrame:
    """Cases that have a twin and enough folds for a test."""
    return tidy[tidy["benefits"].notna() & (tidy["folds"] >= FEWEST_FOLDS)]


def _is_worse(part: pd.DataFrame, name: str) -> pd.Series:
    """Where a loss is above zero by the test; not where all folds have the same."""
    return (part[f"{name}_p_value"] < LEVEL) & (part[name] > 0)


def _where(part: pd.DataFrame, name: str) -> str:
    """Number and names of the datasets with a significant loss."""
    total = counted(len(part), "dataset")
    names = [dataset_title(dataset) for dataset in part.loc[_is_worse(part, name), "dataset"]]
    if not names:
        return f"on none of {total}"
    return f"on {len(names)} of {total} ({', '.join(names)})"
