"""Attention to other rows, from the nearest to the farthest (in the manner of paper Figure 4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import EQUAL, panels
from workflow.report.titles import model_title
from workflow.studies.facts import first_facts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST = 2.0**-8
END = 4.0  # times the mean, at which the colors end
NARROWEST = 2.0  # times the mean and its inverse, which an axis of profiles shows at least
TICKS = [0.25, 0.5, 1, 2, 4]


def attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Which other rows get the attention of a probed test row. Left: the head of each model whose
    attention is most local. A line is a probed test row, with the other rows from the nearest to
    the farthest in equal groups. Orange groups get more attention than the mean, purple ones less;
    the colours end at a quarter and at four times the mean. Right: each grey line is a head.
    Without any preference for near rows it is flat.
    """
    from matplotlib.colors import LogNorm

    models = []
    for row, maps in first_facts(study, "maps"):
        if maps["rows"]:
            models.append((row, json.loads(row["heads"])["heads"], np.array(maps["rows"], float)))
    figure, axes = panels(2 * len(models), 6)
    if not models:
        return figure
    for left, right, (row, heads, maps) in zip(axes[::2], axes[1::2], models, strict=True):
        nearest = int(np.argmax([np.nanmean(np.array(head["nearness"], float)) for head in heads]))
        order = np.argsort(-maps[nearest, :, 0], kind="stable")
        image = left.imshow(
            np.maximum(maps[nearest][order], SMALLEST),
            cmap="PuOr_r",
            norm=LogNorm(1 / END, END),
            aspect="auto",
            interpolation="nearest",
        )
        place = "layer {layer}, head {head}".format(**heads[nearest])
        left.set(
            title=model_title(row),
            xticks=[],
            yticks=[],
            xlabel=f"other rows, near to far (most local head: {place})",
            ylabel="probed rows",
        )
        left.grid(visible=False)
        places = 100 * (np.arange(maps.shape[2]) + 0.5) / maps.shape[2]
        profiles = np.maximum(maps.mean(axis=1), SMALLEST)
        right.plot(places, profiles.T, color="0.5", linewidth=0.6)
        right.axhline(1, **EQUAL)
        right.set_yscale("log", base=2)
        right.yaxis.set_major_formatter("{x:.3g} ×")
        low, high = right.get_ylim()
        right.set(
            ylim=(min(low, 1 / NARROWEST), max(high, NARROWEST)),
            title="all heads, means over the probed rows",
            xlabel="other rows from the nearest to the farthest, %",
            ylabel="attention / mean",
        )
    bar = figure.colorbar(image, ax=axes[0], location="top", extend="both", aspect=40)
    bar.set_ticks(TICKS, labels=[f"{tick:g} ×" for tick in TICKS])
    return figure
