"""To which rows the heads between datapoints attend (paper Figures 3b, 4, B.1, B.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import MISSING, Cell, followed_by, number
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table
from workflow.report.statistics import (
    MODEL,
    ModelRows,
    by_model,
    framed,
    of_model,
    signed_rank_p,
    with_columns,
    without_failures,
)
from workflow.studies.error_columns import model_columns, numbers, percents

LEVEL = 0.01
FEWEST = 7  # rows; with fewer no outcome of the test is below the level
NOTE = (
    "Nearness is Spearman's correlation of a head's attention to the other rows with minus the "
    "distance of their features to the query row, averaged over the probed rows. `By training` is "
    "nearness minus that of the initial network. Central rows are near to every query, so a head "
    "that ignores the query has a positive nearness too. `Unrelated queries` is the correlation of "
    "the same attention with nearness to other probed rows. A head is local if its nearness is "
    f"above that by Wilcoxon's signed-rank test (p < {LEVEL}, one-sided) over the probed rows. "
    "Reach is the mean squared distance weighted by attention, over the plain mean. Heads of an "
    "ensemble's members are counted one member after another. Layers count from 0, those between "
    "attributes included. A model without heads has one: how much each stored row counts for its "
    "prediction."
)
CLASS_NOTE = (
    "`On own class`: mean attention to rows of the query's class, in multiples of that to all rows."
)
DUPLICATE_NOTE = "`On own duplicate`: attention to a row's duplicate in the lookup task."
NO_HEADS = "it has no attention between datapoints"
CORRELATIONS = ("nearness", "typical", "untrained", "reach", "own_class", "partner")
HEAD_COLUMNS = [*MODEL, "fold", "layer", "head", *CORRELATIONS, "looks_near"]
ON_DUPLICATE = "On own duplicate"
ON_CLASS = "On own class"


def attention(study: pd.DataFrame, scoring: Scoring) -> Table:
    """How local the heads of every model are."""
    heads = attention_heads(study)
    rows = [_row(model, heads, study) for model in by_model(study)]
    tidy = framed(rows, ("heads", "tested", "local", *CORRELATIONS, "best", "best_place"))
    title = "Attention between datapoints, all heads"
    notes = (NOTE, CLASS_NOTE, DUPLICATE_NOTE, *failure_notes(tidy))
    section = Section(title, _columns(tidy), notes)
    return Table(tidy, (section.without_empty(ON_CLASS, ON_DUPLICATE),))


def attention_heads(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each head of every fold: means over the probed rows, and whether it is local."""
    rows = []
    for row in without_failures(study).to_dict("records"):
        facts = {name: row[name] for name in (*MODEL, "fold")}
        for head in json.loads(row["heads"])["heads"]:
            rows.append({**facts, **_measures(head)})
    return pd.DataFrame(rows, columns=HEAD_COLUMNS)


def _measures(head: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: np.array(head.get(name) or [np.nan], float) for name in CORRELATIONS}
    return {
        "layer": head["layer"],
        "head": head["head"],
        **{name: _mean(of_rows) for name, of_rows in values.items()},
        "looks_near": is_local(values["nearness"], values["typical"]),
    }


def _mean(values: np.ndarray) -> float:
    if np.isnan(values).all():
        return np.nan
    return float(np.nanmean(values))


def is_local(nearness: np.ndarray, typical: np.ndarray) -> float:
    """1 if a head's nearness (m,) is significantly above the typical one, else 0.

    NaN for too few rows.
    """
    if np.sum(~np.isnan(nearness) & ~np.isnan(typical)) < FEWEST:
        return np.nan
    return float(signed_rank_p(pd.Series(typical), pd.Series(nearness), fewest=1) < LEVEL)


def _row(
    model: ModelRows,
    heads: pd.DataFrame,
    study: pd.DataFrame,
) -> dict[str, Any]:
    facts = model.facts()
    if model.rows.empty:
        return facts
    of_this = of_model(heads, facts)
    if of_this.empty:
        return {**facts, "reason": NO_HEADS}
    rows = with_columns(of_model(study, facts), ["seed"])
    seeds = rows["seed"].nunique() or 1
    nearest = of_this.sort_values("nearness", kind="stable").iloc[-1]
    return {
        **facts,
        "heads": len(of_this) / len(of_model(study, facts)),
        "tested": of_this["looks_near"].notna().sum() / seeds,
        "local": of_this["looks_near"].sum() / seeds,
        **{name: of_this[name].mean() for name in CORRELATIONS},
        "best": nearest["nearness"],
        "best_place": f"layer {nearest['layer']}, head {nearest['head']}, fold {nearest['fold']}",
    }


def _of_all(row: Mapping[Any, Any]) -> Cell:
    """How many heads of all folds are local; a dash where none could be tested."""
    if not row["tested"] > 0:
        return MISSING
    return Cell(f"{row['local']:.0f} of {row['tested']:.0f}", row["local"] / row["tested"])


def _columns(tidy: pd.DataFrame) -> dict[str, list[Cell]]:
    nearest = []
    for row in tidy.to_dict("records"):
        cell = number(row["best"], 2)
        if row["heads"] > 1:
            cell = followed_by(cell, f" ({row['best_place']})")
        nearest.append(cell)
    return {
        **model_columns(tidy),
        "By training": numbers(tidy["nearness"] - tidy["untrained"], 2, sign=True),
        "Nearness": numbers(tidy["nearness"], 2),
        "Unrelated queries": numbers(tidy["typical"], 2),
        "Heads": numbers(tidy["heads"], 0),
        "Local": [_of_all(row) for row in tidy.to_dict("records")],
        "Nearest head": nearest,
        "Reach": numbers(tidy["reach"], 2),
        ON_CLASS: numbers(tidy["own_class"], 2),
        ON_DUPLICATE: percents(tidy["partner"], 1),
    }
