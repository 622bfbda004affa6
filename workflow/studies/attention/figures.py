"""Attention to other rows, from the nearest to the farthest (in the manner of paper Figure 4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import EQUAL, PAGE, panels, pyplot
from workflow.studies.attention.probe import ATTENDED, DRAWN
from workflow.studies.facts import first_facts, model_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST = 2.0**-8
END = 4.0  # times the mean, at which the colors end
NARROWEST = 2.0  # times the mean and its inverse, which an axis of profiles shows at least
TICKS = [0.25, 0.5, 1, 2, 4]
CELL = 0.72  # inches of a picture with its title
TITLE = 0.3
SMALL = 6  # size of letters
SAME, OTHER = "#009e73", "#d55e00"  # colors of frames: the query's class, and others
WHITE = 255
COLORED = 3  # channels


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


def pictures(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Six query images, and below each the images with the most attention (mean of all heads), with
    their class and their attention in multiples of the mean. A green frame is the query's class, an
    orange one another.
    """
    models = list(first_facts(study, "pictures"))
    if not models:
        return panels(0, 0)[0]
    height = (ATTENDED + 1) * CELL + TITLE
    figure = pyplot().figure(figsize=(PAGE, height * len(models)), layout="constrained")
    parts = figure.subfigures(len(models), 1, squeeze=False)
    for part, (row, examples) in zip(parts.flat, models, strict=True):
        part.suptitle(model_title(row).replace("\n", ", "))
        grid = part.subplots(ATTENDED + 1, DRAWN, squeeze=False)
        for axis in grid.flat:
            axis.set(xticks=[], yticks=[], frame_on=False)
            axis.grid(visible=False)
        for column, query in zip(grid.T, examples["queries"], strict=False):
            _draw(column[0], query, f"query: {query['class']}")
            for axis, attended in zip(column[1:], query["attended"], strict=False):
                _draw(axis, attended, f"{attended['class']}, {attended['relative']:g} ×")
                color = SAME if attended["class"] == query["class"] else OTHER
                axis.set_frame_on(True)
                axis.spines[:].set(visible=True, color=color, linewidth=1.5)
    return figure


def _draw(axis: Axes, picture: dict[str, Any], title: str) -> None:
    """An image in colors if it has three channels, else the mean of its channels in grey."""
    intensities = np.array(picture["intensities"]).reshape(picture["shape"])
    pixels = np.moveaxis(intensities, 0, -1) / WHITE  # (h, w, c)
    if pixels.shape[-1] != COLORED:
        pixels = pixels.mean(-1)
    axis.imshow(pixels, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    axis.set_title(title, fontsize=SMALL)
