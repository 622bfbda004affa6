"""Whom the heads between datapoints look at (paper Figures 3b, 4, B.1, B.2), in numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow.report.section import DASH, Primary, Section, Tabulated, notes, number
from workflow.report.summary import dataset_title, method_title, method_titles, of_model

KEYS = ["dataset", "method", "variant"]
LEVEL = 0.01
NOTE = (
    "Nearness is Spearman's correlation of a head's attention to the other rows with how near their features are, the mean "
    "over the probed rows; 0 is a head that does not care. A head looks near if it is above 0 by Wilcoxon's signed-rank test "
    f"(p < {LEVEL}, one-sided) over those rows. `Before training` is the same network with the weights it began with. Reach is "
    "the mean squared distance weighted by attention, of the plain mean. `On own duplicate` is the attention that goes to a "
    "row's duplicate in the lookup task."
)


def attention_heads(study: pd.DataFrame) -> pd.DataFrame:
    """One row for every head of every fold: mean nearness, that before training, reach, what the partner gets, looks near."""
    lines = []
    for row in study[study["status"] == "ok"].to_dict("records"):
        for head in json.loads(row["heads"])["heads"]:
            nearness = np.array(head["nearness"], float)
            lines.append(
                {
                    **{key: row[key] for key in (*KEYS, "seed")},
                    "layer": head["layer"],
                    "head": head["head"],
                    "nearness": nearness.mean(),
                    "untrained": np.mean(head["untrained"]),
                    "reach": np.nanmean(np.array(head["reach"], float)),
                    "partner": np.nan if head["partner"] is None else np.mean(head["partner"]),
                    "looks_near": looks_near(nearness),
                }
            )
    columns = [*KEYS, "seed", "layer", "head", "nearness", "untrained", "reach", "partner", "looks_near"]
    return pd.DataFrame(lines, columns=columns)


def looks_near(nearness: np.ndarray) -> bool:
    """Whether rank correlations (m,) of a head are above 0 beyond chance."""
    from scipy.stats import wilcoxon

    if not np.any(nearness):
        return False
    found: Any = wilcoxon(nearness, alternative="greater")
    return bool(found.pvalue < LEVEL)


def attention(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """How near the heads of every model look, and what share of them does."""
    heads, rows = attention_heads(study), []
    for names, group in study.groupby(KEYS, sort=False):
        own, failed = of_model(heads, *names), group[group["status"] != "ok"]
        line: dict[str, Any] = {**dict(zip(KEYS, names, strict=True)), "task": group["task"].iloc[0]}
        if failed.empty:
            best = own.sort_values("nearness", kind="stable").iloc[-1]
            line |= {
                "heads": len(own) / len(group),
                "share_near": own["looks_near"].mean(),
                "nearness": own["nearness"].mean(),
                "untrained": own["untrained"].mean(),
                "best": best["nearness"],
                "best_place": f"layer {best['layer']}, head {best['head']}, fold {best['seed']}",
                "reach": own["reach"].mean(),
                "partner": own["partner"].mean(),
            }
        rows.append({**line, "folds": len(group), "reason": "" if failed.empty else failed["reason"].iloc[0]})
    columns = ["heads", "share_near", "nearness", "untrained", "best", "best_place", "reach", "partner"]
    tidy = pd.DataFrame(rows)
    tidy = tidy.reindex(columns=list(dict.fromkeys([*tidy.columns, *columns])))
    cells = pd.DataFrame(
        {
            "Dataset": tidy["dataset"].map(dataset_title),
            "Method": method_titles(tidy),
            "Heads": [number(x, 0) for x in tidy["heads"]],
            "Look near": [DASH if np.isnan(x) else f"{100 * x:.0f} %" for x in tidy["share_near"]],
            "Nearness": [number(x, 2) for x in tidy["nearness"]],
            "Before training": [number(x, 2) for x in tidy["untrained"]],
            "Nearest head": [
                DASH if np.isnan(x) else f"{number(x, 2)} ({place})"
                for x, place in zip(tidy["best"], tidy["best_place"], strict=True)
            ],
            "Reach": [number(x, 2) for x in tidy["reach"]],
            "On own duplicate": [DASH if np.isnan(x) else f"{100 * x:.1f} %" for x in tidy["partner"]],
        }
    )
    if (cells["On own duplicate"] == DASH).all():
        cells = cells.drop(columns="On own duplicate")
    return Tabulated(tidy, (Section("Attention between datapoints, all heads", cells, (NOTE, *notes(tidy))),))


def attention_maps(study: pd.DataFrame) -> list[tuple[str, list[tuple[int, int]], list[np.ndarray]]]:
    """Title, (layer, head) and relative attention (rows, bins) of every head, of the first fold of every model."""
    found = []
    for (dataset, method, variant), group in study[study["status"] == "ok"].groupby(KEYS, sort=False):
        heads: Mapping[str, Any] = json.loads(group["heads"].iloc[0])
        maps: Mapping[str, Any] = json.loads(group["maps"].iloc[0])
        places = [(head["layer"], head["head"]) for head in heads["heads"]]
        title = f"{dataset_title(str(dataset))}, {method_title(str(method), str(variant))}"
        found.append((title, places, [np.array(one, float) for one in maps["rows"]]))
    return found
