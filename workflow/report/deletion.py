"""Which rows are left when a prediction has lost all that it can spare (paper section 4.4, Figure B.3)."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.old_published import part_of, published
from workflow.report.section import DASH, Section, Tabulated, notes, number, probability
from workflow.report.summary import (
    MODEL,
    by_model,
    dataset_title,
    method_titles,
    of_model,
    one_sided,
    tabulated,
    without_failures,
)

NOTE = (
    "Rows are deleted one at a time while the prediction stays near that with all of them (paper Algorithm 2). Distance is the "
    "mean squared one between encoded features; `random` are as many rows as were kept. p is of Wilcoxon's signed-rank test, "
    "one-sided, over the probed rows of all folds for which there are both sets."
)
PAPER = (
    "The paper on Protein, standard run of 5,567 rows: kept nearer than deleted p ≈ 0 (underflow), than random p = 8.8e−130; "
    "strict run of 398 rows: p = 5.3e−49 and 8.4e−39, input reduced to 1 % for 79.5 % of the rows, to 10 % for 99.5 %."
)


def deletion_rows(study: pd.DataFrame) -> pd.DataFrame:
    """One row for each probed row of every fold: distances to the kept, deleted and random ones, and the share left."""
    frames = []
    for row in without_failures(study).to_dict("records"):
        frame = pd.DataFrame(json.loads(row["distances"]), dtype=float)
        frames.append(frame.assign(**{key: row[key] for key in MODEL}, fold=row["fold"]))
    empty = pd.DataFrame(columns=[*MODEL, "fold", "kept", "deleted", "random", "left"])
    return pd.concat(frames, ignore_index=True) if frames else empty


def deletion(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """How far a row's context can be reduced, and whether the rows that are left are near."""
    every, rows = deletion_rows(study), []
    for row, group in by_model(study):
        own = of_model(every, row)
        if len(group):
            row |= _measures(own) | {
                "context_rows": group["context_rows"].mean(),
                "passes_per_row": group["passes"].sum() / len(own),
                "partner_kept": np.average(
                    group["partner_kept"].astype(float), weights=group["rows"]
                ),
            }
        rows.append(row)
    names = [
        "probed",
        "left",
        "to_1_percent",
        "to_10_percent",
        "kept",
        "deleted",
        "random",
        "p_deleted",
        "p_random",
        "partner_kept",
    ]
    tidy = tabulated(rows, names)
    cells = pd.DataFrame(
        {
            "Dataset": tidy["dataset"].map(dataset_title),
            "Method": method_titles(tidy),
            "Rows": [number(x, 0) for x in tidy["probed"]],
            "Context left": [_percent(x, 1) for x in tidy["left"]],
            "To 10 %": [_percent(x, 0) for x in tidy["to_10_percent"]],
            "Kept": [number(x, 2) for x in tidy["kept"]],
            "Deleted": [number(x, 2) for x in tidy["deleted"]],
            "Random": [number(x, 2) for x in tidy["random"]],
            "p, kept < deleted": [probability(x) for x in tidy["p_deleted"]],
            "p, kept < random": [probability(x) for x in tidy["p_random"]],
            "Own duplicate kept": [_percent(x, 0) for x in tidy["partner_kept"]],
        }
    )
    if (cells["Own duplicate kept"] == DASH).all():
        cells = cells.drop(columns="Own duplicate kept")
    own = (
        (PAPER,)
        if any(part_of(str(name), published()["deletion"]["dataset"]) for name in tidy["dataset"])
        else ()
    )
    return Tabulated(
        tidy,
        (
            Section(
                "Rows that a prediction needs, and how far they are",
                cells,
                (NOTE, *_constants(study), *own, *notes(tidy)),
            ),
        ),
    )


def _constants(study: pd.DataFrame) -> tuple[str, ...]:
    """With which constants of Algorithm 2 it was run, and the paper's."""
    if "options" not in study or study["options"].isna().all():
        return ()
    own = json.loads(study["options"].dropna().iloc[0])
    measured = "of its size, at least a hundredth of the target's standard deviation"
    unit = (
        measured
        if (study["task"] == "regression").all()
        else f"{measured}; of classes in total variation"
    )
    return (
        f"A change below {own['tolerance']:g} is accepted ({unit}), more after {own['retries']} refusals in succession (the "
        f"paper: 50), up to {own['limit']:g}; the search ends below {100 * own['left']:g} % of the rows.",
    )


def _measures(own: pd.DataFrame) -> dict[str, float]:
    return {
        "probed": len(own),
        "left": own["left"].mean(),
        "to_1_percent": (own["left"] <= 0.01).mean(),
        "to_10_percent": (own["left"] <= 0.1).mean(),
        **{name: own[name].mean() for name in ("kept", "deleted", "random")},
        "p_deleted": one_sided(own["kept"], own["deleted"]),
        "p_random": one_sided(own["kept"], own["random"]),
    }


def _percent(value: float, digits: int) -> str:
    return DASH if np.isnan(value) else f"{number(100 * value, digits)} %"
