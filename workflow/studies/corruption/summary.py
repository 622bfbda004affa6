"""Results of a corruption study in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted, formatted
from workflow.report.published import FAR
from workflow.report.titles import NPTS, dataset_title
from workflow.studies.corruption.selection import EVERYTHING, Selection
from workflow.studies.corruption.tables import INTERVAL, corruption
from workflow.studies.sentences import MODEL, NOT_PROBED, by_model, listed, per_method

MEANING = "Negative is worse. Zero means that permuting the other rows has no effect."
SELECTION = ["permuted_columns", "permuted_rows"]


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """The changes of every NPT."""
    tidy = corruption(study, scoring).tidy
    is_npt = tidy["method"].isin(NPTS)
    of_npts = tidy[is_npt & tidy["change"].notna()]
    if of_npts.empty:
        return NOT_PROBED
    sentences: list[str] = []
    for title, rows in by_model(of_npts):
        changes = [_change(row) for row in rows.to_dict("records")]
        subject = _subject(rows)
        sentences.append(
            f"{subject} changes the test performance of {title}: {', '.join(changes)}."
        )
    sentences.append(MEANING)
    return " ".join(sentences)


def headline(study: pd.DataFrame, scoring: Scoring) -> str:
    """On how many datasets each method loses more than two standard errors, or the interval."""
    tidy = corruption(study, scoring).tidy
    has_error = tidy["standard_error"].notna()
    is_worse = tidy["change"] < -FAR * tidy["standard_error"]
    clauses = _clauses(tidy[has_error], is_worse[has_error])
    sentences = []
    if clauses:
        sentence = f"{_subject(tidy)} costs more than two standard errors: {per_method(clauses)}."
        sentences.append(sentence)
    has_interval = ~has_error & tidy["high"].notna()
    clauses = _clauses(tidy[has_interval], tidy.loc[has_interval, "high"] < 0)
    if clauses:
        sentence = f"With one fold, the {INTERVAL} of the change is below zero"
        sentences.append(f"{sentence}: {per_method(clauses)}.")
    return " ".join(sentences)


def _change(row: Mapping[Any, Any]) -> str:
    """Dataset, change and unit."""
    name = dataset_title(row["dataset"])
    if _selection(row) != EVERYTHING:
        name += f" ({_selection(row).title})"
    unit = "% of RMSE" if row["task"] == "regression" else "points of accuracy"
    return f"{name} {_with_error(row)} {unit}"


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
