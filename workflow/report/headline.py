"""The answer of all studies in one paragraph, made of their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.corruption import corruption
from workflow.report.dose import skill_from_others
from workflow.report.old_published import FAR
from workflow.report.old_rank_tests import rank_tests
from workflow.report.section import counted, number, probability
from workflow.report.summary import LEVEL, MODEL, method_title, without_failures


def headline(
    studies: Mapping[str, pd.DataFrame], kinds: Mapping[str, str], scoring: Scoring
) -> str:
    """Whether NPT uses other rows, can look one up, and how good it is: a sentence from each study that can tell."""
    sentences = []
    for kind, sentence in (
        ("corruption", _used),
        ("dose_response", _lost),
        ("lookup", _looked_up),
        ("benchmark", _ranked),
    ):
        sentences += [
            told
            for name, frame in studies.items()
            if kinds[name] == kind and (told := sentence(frame, scoring))
        ]
    return (
        " ".join(sentences).replace(" %", "\N{NO-BREAK SPACE}%")
        or "The studies of this run do not tell."
    )


def _used(study: pd.DataFrame, scoring: Scoring) -> str:
    """On how many datasets each method loses more than two standard errors when all other rows are corrupted."""
    tidy = corruption(study, scoring).tidy
    told = {}
    for names, part in tidy[tidy["standard_error"].notna()].groupby(MODEL[1:], sort=False):
        worse = int((part["change"] < -FAR * part["standard_error"]).sum())
        told[names] = f"on {worse} of {counted(len(part), 'dataset')}"
    return (
        f"Corrupting all other rows costs more than two standard errors: {_listed(told)}."
        if told
        else ""
    )


def _lost(study: pd.DataFrame, scoring: Scoring) -> str:
    """The share of skill that each method loses with all other rows shuffled, and with most of them deleted."""
    shuffled, deleted = (
        skill_from_others(study, kind).dropna(subset="share") for kind in ("shuffle", "delete")
    )
    gone = {names: 100 * part["share"] for names, part in deleted.groupby(MODEL[1:], sort=False)}
    parts = dict(iter(shuffled.groupby(MODEL[1:], sort=False)))
    alike = len({len(part) for part in parts.values()}) == 1
    told = {
        names: f"{_range(100 * part['share'])} % and {_range(gone[names])} %"
        + ("" if alike else f" (on {counted(len(part), 'dataset')})")
        for names, part in parts.items()
    }
    start = "Of its skill a model loses, when all other rows are shuffled and when most are deleted"
    return f"{start}: {_listed(told)}." if told else ""


def _looked_up(study: pd.DataFrame, scoring: Scoring) -> str:
    """How well NPT reads targets off duplicates."""
    found = without_failures(study)
    found = found[found["method"] == "npt"]
    if found.empty:
        return ""
    means = found.groupby(["dataset", "lookup"])["correlation"].mean()
    return (
        "Where a duplicate of each row holds the answer, NPT's predictions for rows that it never trained on correlate with "
        f"the truth by {_range(means, 3)} ({counted(len(means), 'task')})."
    )


def _ranked(study: pd.DataFrame, scoring: Scoring) -> str:
    """The place of NPT among all methods over all datasets, and whether a test tells them apart."""
    tests = rank_tests(study, scoring)
    if tests.ranks.empty:
        return ""
    study = study[study["dataset"].isin(tests.ranks.index)]
    means = tests.ranks.mean()
    failed = study[study["status"] != "ok"].groupby(MODEL[1:])["dataset"].nunique().to_dict()
    ranked = [name for name in tests.order if failed.get(name, 0) < len(tests.ranks)]
    best = means[ranked].min() if ranked else np.nan
    told = {name: number(means[name], 2) for name in tests.order if name[0] == "npt"}
    told |= {name: f"{number(best, 2)} (the best)" for name in ranked if means[name] == best}
    told |= {
        name: f"{text}, last for want of a result on {failed[name]}"
        for name, text in told.items()
        if name in failed
    }
    sentence = f"Mean rank among {counted(len(means), 'method')} over {counted(len(tests.ranks), 'dataset')}: {_listed(told)}"
    if tests.refusal:
        return f"{sentence}; too few for a test."
    apart = "tells methods apart" if tests.p_value < LEVEL else "does not tell methods apart"
    return f"{sentence}. Friedman's test {apart} (p = {probability(tests.p_value)})."


def _listed(told: Mapping[Any, str]) -> str:
    """What is told of each method and variant, NPT first."""
    order = sorted(told, key=lambda name: name[0] != "npt")
    return ", ".join(f"{method_title(*name)} {told[name]}" for name in order)


def _range(values: pd.Series, digits: int = 0) -> str:
    """The smallest and largest of some values, once where they print alike."""
    low, high = number(float(values.min()), digits), number(float(values.max()), digits)
    return low if low == high else f"{low} to {high}"
