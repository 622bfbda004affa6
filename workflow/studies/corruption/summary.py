"""Results of a corruption study in sentences, and its controls."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from baselines import methods
from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.titles import NPTS, TOO_SHORT, dataset_title, is_too_short
from workflow.studies.corruption.selection import EVERYTHING, Selection
from workflow.studies.corruption.tables import corruption
from workflow.studies.errors import effect_text
from workflow.studies.sentences import (
    NOT_PROBED,
    by_model,
    effects_in_words,
    extents,
    listed,
    per_method,
    power,
    title_of,
    value_range,
)
from workflow.studies.study_kind import Card

MEANING = "An effect near zero means none on the score, even where predictions change."
READS = "Do predictions depend on other rows?"
DEPENDS = "Do scores depend on other rows?"
NO_VERDICT = "No verdict, since a control failed: {}"
CONTROL_ROUNDING = 1e-4  # effect of the identity permutation that single precision may cause


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """How far predictions of every NPT move, and the effects on its scores."""
    tidy = corruption(study, scoring).tidy
    of_npts = tidy[tidy["method"].isin(NPTS) & tidy["effect"].notna()]
    if of_npts.empty:
        return NOT_PROBED
    sentences: list[str] = []
    for title, rows in by_model(of_npts):
        effects = []
        for row in rows.to_dict("records"):
            metric = "RMSE" if row["task"] == "regression" else "NLL"
            selection = Selection(row["permuted_columns"], row["permuted_rows"])
            cells = "" if selection == EVERYTHING else f" ({selection.title})"
            size = effect_text(row["effect"], row["task"])
            moved = ""
            if pd.notna(row["movement"]):
                moved = f" (predictions move by {formatted(row['movement'], 2)})"
            effects.append(f"{dataset_title(row['dataset'])}{cells} {metric} {size}{moved}")
        sentences.append(f"{_subject(rows)}, effect on {title}: {', '.join(effects)}.")
    return " ".join([*sentences, MEANING])


def cards(study: pd.DataFrame, scoring: Scoring) -> list[Card]:
    """Whether predictions depend on other rows, and whether scores do.

    There is no verdict where a control fails.
    """
    tidy = corruption(study, scoring).tidy
    failures = list(failed_controls(tidy))
    refusal = NO_VERDICT.format(listed(failures)) if failures else ""
    made = []
    moved = tidy[tidy["movement"].notna()]
    if len(moved):
        sizes = {}
        verdicts = []
        for title, rows in by_model(moved):
            movement = rows["movement"]
            sizes[rows["method"].iloc[0], rows["variant"].iloc[0]] = value_range(movement, 2)
            if rows["method"].iloc[0] in NPTS:
                verdicts.append(f"{title}: {extents(movement)}")
        evidence = (
            f"{_subject(moved)}, change of predictions in standard deviations of the train targets "
            f"or in total variation distance: {per_method(sizes)}."
        )
        made.append(Card(READS, refusal or "; ".join(verdicts), evidence))
    known = strongest(tidy[tidy["effect"].notna()])
    if len(known):
        clauses = []
        verdicts = []
        for title, rows in by_model(known):
            clause = effects_in_words(rows)
            method, variant = rows[["method", "variant"]].iloc[0]
            is_npt = method in NPTS
            if is_npt:
                words = extents(rows["effect"])
                if is_too_short(study, method, variant):
                    words = TOO_SHORT
                verdicts.append(f"{title}: {words} ({clause})")
            if refusal or not is_npt:
                clauses.append(f"{title} {clause}")
        shown = [f"{_subject(known)}: {'; '.join(clauses)}."] if clauses else []
        evidence = " ".join([*shown, *power(known)])
        made.append(Card(DEPENDS, refusal or "; ".join(verdicts), evidence))
    return made


def strongest(tidy: pd.DataFrame) -> pd.DataFrame:
    """A row for each model and dataset: of all cells, or of those with the largest effect.

    Labels of other rows are a part of other rows, and no further case.
    """
    is_everything = (tidy["permuted_columns"] == "all") & (tidy["permuted_rows"] == "all")
    order = tidy.assign(is_everything=is_everything).sort_values(
        ["is_everything", "effect"], ascending=False, kind="stable"
    )
    kept = order.drop_duplicates(["dataset", "method", "variant"]).index
    return tidy.loc[tidy.index.isin(kept)]


def failed_controls(tidy: pd.DataFrame) -> Iterator[str]:
    """Controls that fail, each with what they show.

    Permuting all cells has to cost a method that predicts from other rows alone in every fold. It
    may cost one that predicts each row by itself nothing, nor may the identity permutation cost
    anybody.
    """
    for row in tidy.to_dict("records"):
        if row["control"] > CONTROL_ROUNDING:
            yield f"{title_of(row)} changes under the identity permutation"
        selection = Selection(row["permuted_columns"], row["permuted_rows"])
        declared = methods().get(row["method"])
        if declared is None or selection != EVERYTHING or pd.isna(row["effect"]):
            continue
        size = effect_text(row["effect"], row["task"])
        if declared.dependence == "certain" and row["worse_folds"] < row["folds"]:
            count = f"{row['worse_folds']} of {row['folds']} folds"
            yield f"{title_of(row)} predicts from other rows alone and is worse in {count} ({size})"
        if declared.dependence == "none" and row["largest_effect"] > CONTROL_ROUNDING:
            yield f"{title_of(row)} predicts each row by itself and changes ({size})"


def _subject(tidy: pd.DataFrame) -> str:
    is_everything = (tidy["permuted_columns"] == "all") & (tidy["permuted_rows"] == "all")
    cells = "all" if is_everything.all() else "some cells of"
    return f"Corrupting {cells} other rows"
