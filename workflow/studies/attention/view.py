"""To which rows the heads between datapoints attend (paper Figures 3b, 4, B.1, B.2)."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from workflow.presentation.cells import MISSING, Cell, numbers, percents
from workflow.presentation.drawing import panels
from workflow.presentation.sections import Table, View, model_table
from workflow.presentation.statistics import (
    by_model,
    facts_of,
    first_facts,
    framed,
    of_model,
    signed_rank_p,
)
from workflow.presentation.titles import model_title

LEVEL = 0.01
FEWEST = 7  # rows; with fewer no outcome of the test is below the level
NOTE = (
    "Nearness is Spearman's correlation of a head's attention to the other rows with minus the "
    "distance of their features to the query row, averaged over the probed rows. `By training` is "
    "nearness minus that before training or tuning. Central rows are near to every query, so a "
    "head that ignores the query has a positive nearness too. `Unrelated queries` is the "
    "correlation of the same attention with nearness to other rows of the context. A head is "
    f"local if its nearness is above that by Wilcoxon's signed-rank test (p < {LEVEL}, one-sided) "
    "over the probed rows. Reach is the mean squared distance weighted by attention, over the "
    "plain mean. Heads of all folds, and of an ensemble's members, are counted one member after "
    "another. A model without heads has one: how much each stored row counts for its prediction."
)
CLASS_NOTE = (
    "`On own class`: mean attention to rows of the query's class, in multiples of that to all rows."
)
DUPLICATE_NOTE = "`On own duplicate`: attention to a row's duplicate in the lookup task."
NO_HEADS = "it has no attention between datapoints"
CORRELATIONS = ["nearness", "typical", "untrained", "reach", "own_class", "partner"]
ON_DUPLICATE = "On own duplicate"
ON_CLASS = "On own class"
SMALLEST = 2.0**-8
END = 4.0  # times the mean, at which the colors end
TICKS = [0.25, 0.5, 1, 2, 4]


def attention_table(study: pd.DataFrame) -> Table:
    """How local the heads of every model are."""
    heads = attention_heads(study)
    seeds = study["seed"].nunique()
    rows = []
    for model in by_model(study):
        facts = model.facts()
        part = of_model(heads, facts)
        if part.empty:
            rows.append({**facts, "reason": facts["reason"] or NO_HEADS})
            continue
        tested = part["is_local"].count() / seeds
        local = part["is_local"].sum() / seeds
        rows.append({**facts, **part[CORRELATIONS].mean(), "tested": tested, "local": local})
    tidy = framed(rows, ["tested", "local", *CORRELATIONS])
    local_cells = []
    for local, tested in zip(tidy["local"], tidy["tested"], strict=True):
        share = Cell(f"{local:.0f} of {tested:.0f}") if tested > 0 else MISSING
        local_cells.append(share)
    columns = {
        "By training": numbers(tidy["nearness"] - tidy["untrained"], 2, sign=True),
        "Nearness": numbers(tidy["nearness"], 2),
        "Unrelated queries": numbers(tidy["typical"], 2),
        "Local": local_cells,
        "Reach": numbers(tidy["reach"], 2),
        ON_CLASS: numbers(tidy["own_class"], 2),
        ON_DUPLICATE: percents(tidy["partner"], 1),
    }
    notes = (NOTE, CLASS_NOTE, DUPLICATE_NOTE)
    optional = (ON_CLASS, ON_DUPLICATE)
    return model_table(tidy, "Attention between datapoints, all heads", columns, notes, optional)


def attention_heads(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each head of every fold: means over the probed rows, and whether it is local."""
    heads = facts_of(study, "heads", ("heads",)).dropna(subset="heads")
    measures = pd.DataFrame(heads["heads"].tolist(), heads.index, CORRELATIONS)
    measures = measures.map(lambda values: pd.Series(values, dtype=float))
    heads[CORRELATIONS] = measures.map(pd.Series.mean)
    heads["is_local"] = list(map(is_local, measures["nearness"], measures["typical"]))
    return heads


def is_local(nearness: pd.Series, typical: pd.Series) -> float:
    """1 if a head's nearness (m,) is significantly above the typical one, else 0.

    NaN for too few rows.
    """
    if (nearness.notna() & typical.notna()).sum() < FEWEST:
        return np.nan
    return float(signed_rank_p(typical, nearness, fewest=1) < LEVEL)


def attention_figure(study: pd.DataFrame) -> Figure:
    """Which other rows get the attention of a probed test row, in the head of each model with the
    highest nearness, of its first fold. A line is a probed test row, with the other rows from the
    nearest to the farthest in equal groups. Orange groups get more attention than the mean, purple
    ones less; the colours end at a quarter and at four times the mean.
    """
    models = []
    for row, maps in first_facts(study, "maps"):
        if maps["rows"]:
            models.append((row, json.loads(row["heads"])["heads"], np.array(maps["rows"], float)))
    figure, axes = panels(len(models), 6)
    if not models:
        return figure
    for axis, (row, heads, maps) in zip(axes, models, strict=True):
        nearest = int(np.argmax([np.nanmean(np.array(head["nearness"], float)) for head in heads]))
        order = np.argsort(-maps[nearest, :, 0], kind="stable")
        image = axis.imshow(
            np.maximum(maps[nearest][order], SMALLEST),
            cmap="PuOr_r",
            norm=LogNorm(1 / END, END),
            aspect="auto",
            interpolation="nearest",
        )
        place = "layer {layer}, head {head}".format(**heads[nearest])
        axis.set(
            title=model_title(row),
            xticks=[],
            yticks=[],
            xlabel=f"other rows, near to far (head of the highest nearness: {place})",
            ylabel="probed rows",
        )
        axis.grid(visible=False)
    bar = figure.colorbar(image, ax=axes, location="top", extend="both", aspect=40)
    bar.set_ticks(TICKS, labels=[f"{tick:g} ×" for tick in TICKS])
    bar.minorticks_off()
    return figure


VIEW = View(
    tables={"attention": attention_table},
    figures={"attention": attention_figure},
    drawn=(),
    columns=("By training", "Nearness", "Unrelated queries", "Local", "On own class"),
)
