"""Whom the heads between datapoints look at (paper Figures 3b, 4, B.1, B.2), in numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.section import DASH, Section, Tabulated, notes, number
from workflow.report.summary import (
    MODEL,
    by_model,
    dataset_title,
    method_title,
    method_titles,
    of_model,
    one_sided,
    tabulated,
    without_failures,
)

LEVEL = 0.01
FEWEST = 7  # rows; with fewer no outcome of the test is below the level
NOTE = (
    "Nearness is Spearman's correlation of a head's attention to the other rows with how near their features are to the row "
    "that asks, the mean over the probed rows. Some of it needs no comparison of rows: one in the middle of the data is near "
    "to all. `Whoever asks` is the same attention's correlation with how near the others are to further rows. A head "
    "looks near if the first is above the second by Wilcoxon's signed-rank test "
    f"(p < {LEVEL}, one-sided) over those rows. `Before training` is the nearness of the network that it began with. Reach is "
    "the mean squared distance weighted by attention, of the plain mean. `On own duplicate` is the attention that goes to a "
    "row's duplicate in the lookup task."
)
NO_HEADS = "it has no attention between datapoints"
HEAD_COLUMNS = [
    "layer",
    "head",
    "nearness",
    "typical",
    "untrained",
    "reach",
    "partner",
    "looks_near",
]


def attention_heads(study: pd.DataFrame) -> pd.DataFrame:
    """One row for every head of every fold: means over the probed rows, and whether it looks near (NaN if too few tell)."""
    lines = []
    for row in without_failures(study).to_dict("records"):
        for head in json.loads(row["heads"])["heads"]:
            measured = {name: np.array(head[name] or [np.nan], float) for name in HEAD_COLUMNS[2:7]}
            lines.append(
                {
                    **{key: row[key] for key in (*MODEL, "fold")},
                    **{name: head[name] for name in ("layer", "head")},
                    **{
                        name: np.nan if np.isnan(values).all() else np.nanmean(values)
                        for name, values in measured.items()
                    },
                    "looks_near": looks_near(measured["nearness"], measured["typical"]),
                }
            )
    return pd.DataFrame(lines, columns=[*MODEL, "fold", *HEAD_COLUMNS])


def looks_near(nearness: np.ndarray, typical: np.ndarray) -> float:
    """1 if correlations (m,) of a head are above those that it has whoever asks, beyond chance; 0 if not, NaN for too few."""
    if np.sum(~np.isnan(nearness) & ~np.isnan(typical)) < FEWEST:
        return np.nan
    chance = one_sided(pd.Series(typical), pd.Series(nearness), fewest=1)
    return float(chance < LEVEL)


def attention(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """How near the heads of every model look, and what share of them does."""
    heads, rows = attention_heads(study), []
    for row, group in by_model(study):
        own = of_model(heads, row)
        if len(group) and own.empty:
            row["reason"] = NO_HEADS
        elif len(group):
            best = own.sort_values("nearness", kind="stable").iloc[-1]
            row |= {
                "heads": len(own) / len(group),
                "share_near": own["looks_near"].mean(),
                **{name: own[name].mean() for name in HEAD_COLUMNS[2:7]},
                "best": best["nearness"],
                "best_place": f"layer {best['layer']}, head {best['head']}, fold {best['fold']}",
            }
        rows.append(row)
    columns = ["heads", "share_near", *HEAD_COLUMNS[2:7], "best", "best_place"]
    tidy = tabulated(rows, columns)
    cells = pd.DataFrame(
        {
            "Dataset": tidy["dataset"].map(dataset_title),
            "Method": method_titles(tidy),
            "Heads": [number(x, 0) for x in tidy["heads"]],
            "Look near": [DASH if np.isnan(x) else f"{100 * x:.0f} %" for x in tidy["share_near"]],
            "Nearness": [number(x, 2) for x in tidy["nearness"]],
            "Whoever asks": [number(x, 2) for x in tidy["typical"]],
            "Before training": [number(x, 2) for x in tidy["untrained"]],
            "Nearest head": [
                DASH if np.isnan(x) else f"{number(x, 2)} ({place})"
                for x, place in zip(tidy["best"], tidy["best_place"], strict=True)
            ],
            "Reach": [number(x, 2) for x in tidy["reach"]],
            "On own duplicate": [
                DASH if np.isnan(x) else f"{100 * x:.1f} %" for x in tidy["partner"]
            ],
        }
    )
    if (cells["On own duplicate"] == DASH).all():
        cells = cells.drop(columns="On own duplicate")
    return Tabulated(
        tidy, (Section("Attention between datapoints, all heads", cells, (NOTE, *notes(tidy))),)
    )


def attention_maps(
    study: pd.DataFrame,
) -> list[tuple[str, list[tuple[int, int]], list[np.ndarray]]]:
    """Title, (layer, head) and relative attention (rows, bins) of every head, of the first fold of every model."""
    found = []
    for (dataset, method, variant), group in without_failures(study).groupby(MODEL, sort=False):
        heads: Mapping[str, Any] = json.loads(group["heads"].iloc[0])
        maps: Mapping[str, Any] = json.loads(group["maps"].iloc[0])
        places = [(head["layer"], head["head"]) for head in heads["heads"]]
        title = f"{dataset_title(str(dataset))}, {method_title(str(method), str(variant))}"
        found.append((title, places, [np.array(one, float) for one in maps["rows"]]))
    return found
