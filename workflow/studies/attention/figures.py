"""Attention to other rows, from the nearest to the farthest (in the manner of paper Figure 4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import EQUAL, PAGE, panels, pyplot
from workflow.report.statistics import MODEL, without_failures
from workflow.report.titles import dataset_title, method_title
from workflow.studies.attention.gallery import draw_gallery, gallery_height, queries_of_models

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

LINE_HEIGHT, MARGIN = 1.7, 0.5  # inches
SMALLEST = 2.0**-8
END = 4.0  # times the mean, at which the colors end
NARROWEST = 2.0  # times the mean and its inverse, which an axis of profiles shows at least
TICKS = (0.25, 0.5, 1, 2, 4)


def attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Which other rows get the attention of a probed test row. Left: the head of each model whose
    attention is most local. A line is a probed test row, with the other rows from the nearest to
    the farthest in equal groups. Orange groups get more attention than the mean, purple ones less;
    the colours end at a quarter and at four times the mean. Right: each grey line is a head.
    Without any preference for near rows it is flat. Pictures: six queries and the images with the
    most attention (mean of all heads), with their class and their attention in multiples of the
    mean. A green frame is the query's class, an orange one another.
    """
    models = attention_maps(study)
    gallery = queries_of_models(study)
    heights = (LINE_HEIGHT * len(models) + MARGIN * bool(models), gallery_height(gallery))
    if not sum(heights):
        return panels(0, 0)[0]
    figure = pyplot().figure(figsize=(PAGE, sum(heights)), layout="constrained")
    top, bottom = figure, figure
    if all(heights):
        top, bottom = figure.subfigures(2, 1, height_ratios=heights)
    if models:
        _draw_maps(top, models)
    if gallery:
        draw_gallery(bottom, gallery)
    return figure


def _draw_maps(figure: Figure | SubFigure, models: list[dict[Any, Any]]) -> None:
    """A line for each model: the map of its most local head, and the profiles of all heads.

    A map has a line for each probed row, those with most attention to near rows on top. A profile
    is the mean attention to the other rows by their rank of distance.
    """
    axes = figure.subplots(len(models), 2, squeeze=False)
    for (left, right), row in zip(axes, models, strict=True):
        heads = json.loads(row["heads"])["heads"]
        maps = np.array(json.loads(row["maps"])["rows"], float)  # (heads, rows, bins)
        nearness = [np.nanmean(np.array(head["nearness"], float)) for head in heads]
        nearest = int(np.argmax(nearness))
        order = np.argsort(-maps[nearest, :, 0], kind="stable")
        image = left.imshow(
            np.log2(np.maximum(maps[nearest][order], SMALLEST)),
            cmap="PuOr_r",
            vmin=-np.log2(END),
            vmax=np.log2(END),
            aspect="auto",
            interpolation="nearest",
        )
        method = method_title(row["method"], row["variant"])
        left.set_title(f"{dataset_title(row['dataset'])}\n{method}")
        left.set(xticks=[], yticks=[], xlabel="other rows, near to far", ylabel="probed rows")
        left.grid(visible=False)
        places = 100 * (np.arange(maps.shape[2]) + 0.5) / maps.shape[2]
        profiles = np.maximum(maps.mean(axis=1), SMALLEST)
        right.plot(places, profiles.T, color="0.5", linewidth=0.6)
        right.axhline(1, **EQUAL)
        right.set_yscale("log", base=2)
        right.yaxis.set_major_formatter("{x:.3g} ×")
        low, high = right.get_ylim()
        right.set_ylim(min(low, 1 / NARROWEST), max(high, NARROWEST))
        right.set(
            title="its weights, mean over the probed rows",
            xlabel="other rows from the nearest to the farthest, %",
            ylabel="attention / mean",
        )
        if len(heads) > 1:
            place = "layer {layer}, head {head}".format(**heads[nearest])
            left.set_xlabel(f"other rows, near to far (most local head: {place})")
            right.set_title(f"all {len(heads)} heads, means over the probed rows")
    bar = figure.colorbar(image, ax=axes[0, 0], location="top", extend="both", aspect=40)
    bar.set_ticks(np.log2(TICKS).tolist(), labels=[f"{tick:g} ×" for tick in TICKS])


def attention_maps(study: pd.DataFrame) -> list[dict[Any, Any]]:
    """Row of the first fold of every model that has heads."""
    if "maps" not in study:
        return []
    firsts = without_failures(study).drop_duplicates(MODEL).to_dict("records")
    return [row for row in firsts if json.loads(row["heads"])["heads"]]
