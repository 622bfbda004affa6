"""Which rows a prediction needs (paper section 4.4, Figure B.3)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, p_value
from workflow.report.notes import failure_notes
from workflow.report.published import is_part_of, published
from workflow.report.sections import Section, Table
from workflow.report.statistics import (
    MODEL,
    ModelRows,
    by_model,
    framed,
    has_seeds,
    of_model,
    signed_rank_p,
    without_failures,
)
from workflow.studies.deletion import DeletionOptions
from workflow.studies.error_columns import model_columns, numbers, percents

NOTE = (
    "Rows are proposed one at a time, and deleted if the prediction stays close to that with all "
    "rows (paper Algorithm 2). A dose response deletes them whatever follows. Distance is the mean "
    "squared distance between encoded features. Random rows are as many as were kept. p is of "
    "Wilcoxon's one-sided signed-rank test over the probed rows of all folds that have both sets."
)
PAPER = (
    "The paper on Protein, standard run of 5,567 rows: kept nearer than deleted p ≈ 0 (underflow), "
    "than random p = 8.8e−130. Strict run of 398 rows: p = 5.3e−49 and 8.4e−39, input reduced to "
    "1 % for 79.5 % of the rows, to 10 % for 99.5 %."
)
DISTANCES = ["kept", "deleted", "random"]
OWN_DUPLICATE = "Own duplicate kept"
MEASURES = (
    "probed",
    "left",
    "to_1_percent",
    "to_10_percent",
    "reduced",
    "at_the_end",
    *DISTANCES,
    "p_deleted",
    "p_random",
    "partner_kept",
)


def deletion(study: pd.DataFrame, scoring: Scoring) -> Table:
    """How far a context can be reduced, and whether the remaining rows are near."""
    probed = probed_rows(study)
    end = DeletionOptions.of(study).left
    rows = [_row(model, probed, end) for model in by_model(study)]
    tidy = framed(rows, MEASURES)
    notes = [NOTE, *_constants(study)]
    paper_dataset = published()["deletion"]["dataset"]
    if any(is_part_of(str(name), paper_dataset) for name in tidy["dataset"]):
        notes.append(PAPER)
    title = "Rows that a prediction needs, and their distances"
    section = Section(title, _columns(tidy), (*notes, *failure_notes(tidy)))
    return Table(tidy, (section.without_empty(OWN_DUPLICATE),))


def probed_rows(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each probed row of every fold: mean distances, and the fraction left.

    Several seeds of a fold probe the same rows; their results are averaged.
    """
    frames = []
    for row in without_failures(study).to_dict("records"):
        frame = pd.DataFrame(json.loads(row["distances"]), dtype=float)
        facts = {name: row[name] for name in MODEL}
        frames.append(frame.assign(**facts, fold=row["fold"], row=frame.index))
    if not frames:
        return pd.DataFrame(columns=[*DISTANCES, "left", *MODEL, "fold", "row"])
    probed = pd.concat(frames, ignore_index=True)
    if not has_seeds(study):
        return probed
    return probed.groupby([*MODEL, "fold", "row"], sort=False).mean().reset_index()


def _row(model: ModelRows, probed: pd.DataFrame, end: float) -> dict[str, Any]:
    facts = model.facts()
    if model.rows.empty:
        return facts
    of_this = of_model(probed, facts)
    folds = model.rows
    partners = folds["partner_kept"].astype(float)
    return {
        **facts,
        **_measures(of_this),
        "at_the_end": (of_this["left"] <= end).sum(),
        "context_rows": folds["context_rows"].mean(),
        "passes_per_row": folds["passes"].sum() / len(of_this),
        "partner_kept": np.average(partners, weights=folds["rows"]),
    }


def _measures(probed: pd.DataFrame) -> dict[str, float]:
    left = probed["left"]
    return {
        "probed": len(probed),
        "left": left.mean(),
        "to_1_percent": (left <= 0.01).mean(),
        "to_10_percent": (left <= 0.1).mean(),
        "reduced": (left <= 0.1).sum(),
        **{name: probed[name].mean() for name in DISTANCES},
        "p_deleted": signed_rank_p(probed["kept"], probed["deleted"]),
        "p_random": signed_rank_p(probed["kept"], probed["random"]),
    }


def _columns(tidy: pd.DataFrame) -> dict[str, list[Cell]]:
    return {
        **model_columns(tidy),
        "Rows": numbers(tidy["probed"], 0),
        "Distance, kept": numbers(tidy["kept"], 2),
        "Distance, random": numbers(tidy["random"], 2),
        "p, kept < random": [p_value(p) for p in tidy["p_random"]],
        "Distance, deleted": numbers(tidy["deleted"], 2),
        "p, kept < deleted": [p_value(p) for p in tidy["p_deleted"]],
        "Context left": percents(tidy["left"], 1),
        "With ≤ 10 % left": numbers(tidy["reduced"], 0),
        OWN_DUPLICATE: percents(tidy["partner_kept"]),
    }


def _constants(study: pd.DataFrame) -> list[str]:
    """The constants of Algorithm 2, and the paper's."""
    if "options" not in study or study["options"].isna().all():
        return []
    options = json.loads(study["options"].dropna().iloc[0])
    unit = "of its size, at least a hundredth of the target's standard deviation"
    if not (study["task"] == "regression").all():
        unit += "; total variation for classes"
    return [
        f"A deletion is accepted if it changes the prediction by less than "
        f"{options['tolerance']:g} ({unit}). The tolerance grows after {options['retries']} "
        f"rejections in succession (the paper: 50), up to {options['limit']:g}. The search ends "
        f"below {100 * options['left']:g} % of the rows."
    ]
