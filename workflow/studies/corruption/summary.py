"""Results of a corruption study in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted, formatted
from workflow.report.fold_tests import FEWEST_FOLDS, needed_errors
from workflow.report.statistics import INTERVAL
from workflow.report.titles import NPTS, TOO_SHORT, dataset_title, is_too_short
from workflow.studies.corruption.selection import EVERYTHING, Selection
from workflow.studies.corruption.tables import corruption
from workflow.studies.sentences import MODEL, NOT_PROBED, by_model, listed, per_method, value_range
from workflow.studies.study_kind import Card

MEANING = "A change near zero means no detected effect on the score, even where predictions change."
READS = "Do predictions read other rows?"
DEPENDS = "Do scores depend on other rows?"
LITTLE, CLEAR = 1.0, 10.0  # percent of a model's RMSE by which its predictions move
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
        sentences.append(f"{subject}, change of the scores of {title}: {', '.join(changes)}.")
    sentences.append(MEANING)
    return " ".join(sentences)


def cards(study: pd.DataFrame, scoring: Scoring) -> list[Card]:
    """Whether predictions read other rows, and whether scores depend on them."""
    made = []
    moved = _movements(study, scoring)
    if moved:
        made.append(Card(READS, *moved))
    evidence = headline(study, scoring)
    if evidence:
        made.append(Card(DEPENDS, _verdict(study, scoring), evidence))
    return made


def _movements(study: pd.DataFrame, scoring: Scoring) -> tuple[str, str] | None:
    """How far predictions move: of the NPTs in a few words, and of each model in numbers."""
    tidy = corruption(study, scoring).tidy
    tidy = tidy[tidy["movement"].notna() & (tidy["task"] == "regression")]
    if tidy.empty:
        return None
    clauses = {}
    verdicts = []
    for title, rows in by_model(tidy):
        names = (rows["method"].iloc[0], rows["variant"].iloc[0])
        movement = rows["movement"]
        clauses[names] = f"{value_range(movement)} %"
        if names[0] in NPTS:
            verdicts.append(f"{title}: {_extents(movement)}")
    evidence = (
        f"{_subject(tidy)}, root mean square change of predictions in percent of the model's own "
        f"RMSE: {per_method(clauses)}."
    )
    return "; ".join(verdicts), evidence


def _extents(movement: pd.Series) -> str:
    """Movements on all datasets in a word, or in two."""
    least = _extent(movement.min())
    most = _extent(movement.max())
    return most if least == most else f"{least} to {most}"


def _extent(percent: float) -> str:
    """A movement in a word."""
    if percent < LITTLE:
        return "hardly"
    return "strongly" if percent > CLEAR else "slightly"


def headline(study: pd.DataFrame, scoring: Scoring) -> str:
    """On how many datasets each method is worse: over its folds, and over its test rows."""
    tidy = corruption(study, scoring).tidy
    is_tested = tidy["change"].notna() & (tidy["folds"] >= FEWEST_FOLDS)
    clauses = _clauses(tidy[is_tested], _is_worse_over_folds(tidy)[is_tested])
    sentences = []
    if clauses:
        sentence = (
            f"{_subject(tidy)}, datasets with worse scores by the corrected t-test over folds"
        )
        sentences.append(f"{sentence}: {per_method(clauses)}.")
    has_interval = tidy["high"].notna()
    clauses = _clauses(tidy[has_interval], _is_worse_over_rows(tidy)[has_interval])
    if clauses:
        sentence = f"By the whole {INTERVAL} over test rows, of these models alone"
        sentences.append(f"{sentence}: {per_method(clauses)}.")
    return " ".join(sentences)


def _is_worse_over_folds(tidy: pd.DataFrame) -> pd.Series:
    """Where a mean loss differs from zero by the corrected resampled t-test."""
    is_regression = tidy["task"] == "regression"
    loss = tidy["change"].where(is_regression, -tidy["change"])
    needed = []
    for folds, fraction in zip(
        tidy["folds"],
        tidy["test_fraction"],
        strict=True,
    ):
        needed.append(needed_errors(folds, fraction))
    return loss > np.array(needed, dtype=float) * tidy["standard_error"]


def _is_worse_over_rows(tidy: pd.DataFrame) -> pd.Series:
    """Where the whole interval over test rows is worse than zero."""
    is_regression = tidy["task"] == "regression"
    return (tidy["low"] > 0).where(is_regression, tidy["high"] < 0)


def _verdict(study: pd.DataFrame, scoring: Scoring) -> str:
    """On how many datasets each NPT is significantly worse; with few folds, by the interval."""
    tidy = corruption(study, scoring).tidy
    is_tested = tidy["folds"] >= FEWEST_FOLDS
    is_known = tidy["change"].notna() & (is_tested | tidy["high"].notna())
    is_npt = tidy["method"].isin(NPTS)
    is_worse = _is_worse_over_folds(tidy).where(is_tested, _is_worse_over_rows(tidy))
    tidy = tidy.assign(is_worse=is_worse)[is_known & is_npt]
    verdicts = []
    for title, rows in by_model(tidy):
        of_datasets = rows.groupby("dataset")["is_worse"].any()
        verdict = f"on {of_datasets.sum()} of {counted(len(of_datasets), 'dataset')}"
        if is_too_short(study, *rows[MODEL].iloc[0]):
            verdict = TOO_SHORT
        verdicts.append(f"{title}: {verdict}")
    return "; ".join(verdicts)


def _change(row: Mapping[Any, Any]) -> str:
    """Dataset, change and unit, and how far predictions move."""
    name = dataset_title(row["dataset"])
    if _selection(row) != EVERYTHING:
        name += f" ({_selection(row).title})"
    if row["task"] == "regression":
        clause = f"{name} RMSE {_with_error(row)} %"
        moved = "root mean square change of predictions {} % of the RMSE"
    else:
        clause = f"{name} accuracy {_with_error(row)} points"
        moved = "mean total variation distance of predictions {} %"
    if pd.isna(row["movement"]):
        return clause
    movement = moved.format(formatted(row["movement"], 0))
    return f"{clause} ({movement})"


def _clauses(tidy: pd.DataFrame, is_worse: pd.Series) -> dict[Any, str]:
    """Counts of datasets by method and variant, each with the selections that have it.

    Of several selections, those without an effect are left out.
    """
    clauses = {}
    for names, models in tidy.groupby(MODEL, sort=False):
        selections: dict[str, list[str]] = {}
        for columns_and_rows, part in models.groupby(SELECTION, sort=False):
            worse = int(is_worse[part.index].sum())
            count = f"{worse} of {len(part)}"
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
