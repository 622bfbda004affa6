"""Results of a corruption study in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted, formatted
from workflow.report.statistics import t_quantile
from workflow.report.titles import NPTS, dataset_title
from workflow.studies.corruption.selection import EVERYTHING, Selection
from workflow.studies.corruption.tables import INTERVAL, corruption
from workflow.studies.sentences import MODEL, NOT_PROBED, by_model, listed, per_method

MEANING = "At zero, scores do not depend on what is permuted, even where predictions move."
SELECTION = ["permuted_columns", "permuted_rows"]


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """How far predictions of every NPT move, and the changes of its scores."""
    tidy = corruption(study, scoring).tidy
    is_npt = tidy["method"].isin(NPTS)
    of_npts = tidy[is_npt & tidy["change"].notna()]
    if of_npts.empty:
        return NOT_PROBED
    sentences: list[str] = []
    for title, rows in by_model(of_npts):
        changes = [_change(row) for row in rows.to_dict("records")]
        subject = _subject(rows)
        sentences.append(f"{subject} changes the scores of {title}: {', '.join(changes)}.")
    sentences.append(MEANING)
    return " ".join(sentences)


def headline(study: pd.DataFrame, scoring: Scoring) -> str:
    """On how many datasets each method is measurably worse: by its folds, or by the interval."""
    tidy = corruption(study, scoring).tidy
    is_regression = tidy["task"] == "regression"
    loss = tidy["change"].where(is_regression, -tidy["change"])
    has_error = tidy["standard_error"].notna()
    is_worse = loss > t_quantile(tidy["folds"]) * tidy["standard_error"]
    clauses = _clauses(tidy[has_error], is_worse[has_error])
    sentences = []
    if clauses:
        sentences.append(f"{_subject(tidy)} measurably worsens scores: {per_method(clauses)}.")
    has_interval = ~has_error & tidy["high"].notna()
    is_beyond_zero = (tidy["low"] > 0).where(is_regression, tidy["high"] < 0)
    clauses = _clauses(tidy[has_interval], is_beyond_zero[has_interval])
    if clauses:
        sentence = f"With one fold, the whole {INTERVAL} of the change is worse than zero"
        sentences.append(f"{sentence}: {per_method(clauses)}.")
    return " ".join(sentences)


def _change(row: Mapping[Any, Any]) -> str:
    """Dataset, change and unit, and how far predictions move."""
    name = dataset_title(row["dataset"])
    if _selection(row) != EVERYTHING:
        name += f" ({_selection(row).title})"
    if row["task"] == "regression":
        clause = f"{name} RMSE {_with_error(row)} %"
        moved = "of their error"
    else:
        clause = f"{name} accuracy {_with_error(row)} points"
        moved = "of the probability"
    if pd.isna(row["movement"]):
        return clause
    return f"{clause} (predictions move by {formatted(row['movement'], 0)} % {moved})"


def _clauses(tidy: pd.DataFrame, is_worse: pd.Series) -> dict[Any, str]:
    """Counts of datasets by method and variant, each with the selections that have it.

    Of several selections, those without an effect are left out.
    """
    clauses = {}
    for names, models in tidy.groupby(MODEL, sort=False):
        selections: dict[str, list[str]] = {}
        for columns_and_rows, part in models.groupby(SELECTION, sort=False):
            worse = int(is_worse[part.index].sum())
            count = f"on {worse} of {counted(len(part), 'dataset')}"
            selection = Selection(*columns_and_rows)  # type: ignore[misc]
            if worse or selection == EVERYTHING:
                selections.setdefault(count, []).append(selection.title)
        counts = [_with_titles(*item) for item in selections.items()]
        clauses[names] = listed(counts) if counts else "in no case"
    return clauses


def _with_titles(count: str, titles: list[str]) -> str:
    """A count with its selections in brackets, unless that is all cells."""
    if titles == [EVERYTHING.title]:
        return count
    return f"{count} ({', '.join(titles)})"


def _selection(row: Mapping[Any, Any]) -> Selection:
    return Selection(row["permuted_columns"], row["permuted_rows"])


def _subject(tidy: pd.DataFrame) -> str:
    selections = {_selection(row) for row in tidy.to_dict("records")}
    if selections == {EVERYTHING}:
        return "Corrupting all other rows"
    return "Corrupting some cells of other rows"


def _with_error(row: Mapping[Any, Any]) -> str:
    """The change with its standard error, or else with its interval."""
    shown = formatted(row["change"], 1, sign=True)
    if pd.notna(row["standard_error"]):
        return f"{shown} ± {row['standard_error']:.1f}"
    if pd.notna(row["low"]):
        ends = [formatted(row[end], 1) for end in ("low", "high")]
        return f"{shown} ({INTERVAL} {' to '.join(ends)})"
    return shown
