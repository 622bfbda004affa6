"""Attention to other rows, from the nearest to the farthest (in the manner of paper Figure 4)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import PAGE, pyplot
from workflow.report.statistics import MODEL, without_failures
from workflow.report.titles import dataset_title, method_title
from workflow.studies.attention.gallery import draw_gallery, gallery_height, queries_of_models

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

LINE_HEIGHT, MARGIN = 1.5, 0.5  # inches
SMALLEST = 2.0**-8
END = 4.0  # times the mean, at which the colors end
NARROWEST = 2.0  # times the mean and its inverse, which an axis of profiles shows at least
TICKS = (0.25, 0.5, 1, 2, 4)


@dataclass(frozen=True)
class Maps:
    """Relative attention of all heads of a model.

    Attributes:
        relative: By layer and head: (rows, bins), over the mean attention; near rows come first.
        nearest: Layer and head of the largest mean rank correlation with nearness.
    """

    title: str
    relative: dict[tuple[int, int], np.ndarray]
    nearest: tuple[int, int]


def attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """For each model the map of its most local head, and the profile of every head.

    For images, those with the most attention follow; rows without maps have these alone.
    """
    models = attention_maps(study)
    gallery = queries_of_models(study)
    map_height = 0.0
    if models or not gallery:
        map_height = LINE_HEIGHT * max(1, len(models)) + MARGIN
    height = map_height + gallery_height(gallery)
    figure = pyplot().figure(figsize=(PAGE, height), layout="constrained")
    if not gallery:
        _draw_maps(figure, models)
        return figure
    if not models:
        draw_gallery(figure, gallery)
        return figure
    top, bottom = figure.subfigures(2, 1, height_ratios=(map_height, height - map_height))
    _draw_maps(top, models)
    draw_gallery(bottom, gallery)
    return figure


def _draw_maps(figure: Figure | SubFigure, models: list[Maps]) -> None:
    """A line for each model: a map, and profiles."""
    lines = max(1, len(models))
    axes = figure.subplots(lines, 2, squeeze=False)
    image = None
    for (left, right), model in zip(axes, models, strict=False):
        image = _heat_map(left, model.relative[model.nearest])
        _profiles(right, list(model.relative.values()))
        left.set_title(model.title)
        right.set_title("its weights, mean over the probed rows")
        heads = len(model.relative)
        if heads > 1:
            layer, head = model.nearest
            left.set_title(f"{model.title}\nmost local head: layer {layer}, head {head}")
            right.set_title(f"all {heads} heads, means over the probed rows")
    if image is None:
        for axis in axes.flat:
            axis.set_axis_off()
        return
    bar = figure.colorbar(
        image,
        ax=axes[:, 0],
        location="left",
        extend="both",
        shrink=0.8,
    )
    labels = [f"{tick:g} ×" for tick in TICKS]
    bar.set_ticks(np.log2(TICKS).tolist(), labels=labels)


def _heat_map(axis: Axes, relative: np.ndarray) -> Any:
    """A line for each probed row, those with most attention to near rows on top."""
    order = np.argsort(-relative[:, 0], kind="stable")
    axis.set(
        xticks=[],
        yticks=[],
        xlabel="other rows, near to far",
        ylabel="probed rows",
    )
    axis.grid(visible=False)
    return axis.imshow(
        np.log2(np.maximum(relative[order], SMALLEST)),
        cmap="PuOr_r",
        vmin=-np.log2(END),
        vmax=np.log2(END),
        aspect="auto",
        interpolation="nearest",
    )


def _profiles(axis: Axes, heads: list[np.ndarray]) -> None:
    """Mean attention of each head to the other rows by their rank of distance."""
    for relative in heads:
        profile = relative.mean(axis=0)
        places = 100 * (np.arange(len(profile)) + 0.5) / len(profile)
        axis.plot(
            places,
            np.maximum(profile, SMALLEST),
            color="0.5",
            linewidth=0.6,
        )
    axis.axhline(1, color="0.3", linestyle=":", linewidth=0.8)
    axis.set_yscale("log", base=2)
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:.3g} ×")
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, 1 / NARROWEST), max(high, NARROWEST))
    axis.set(xlabel="other rows from the nearest to the farthest, %", ylabel="attention / mean")


def attention_maps(study: pd.DataFrame) -> list[Maps]:
    """Maps of the first fold of every model that has heads."""
    models: list[Maps] = []
    if "maps" not in study:
        return models
    for names, rows in without_failures(study).groupby(MODEL, sort=False):
        dataset, method, variant = map(str, names)
        heads = json.loads(rows["heads"].iloc[0])["heads"]
        maps = json.loads(rows["maps"].iloc[0])["rows"]
        if not heads:
            continue
        relative = {}
        nearness = {}
        for head, values in zip(heads, maps, strict=True):
            place = (head["layer"], head["head"])
            relative[place] = np.array(values, float)
            nearness[place] = np.nanmean(np.array(head["nearness"], float))
        nearest = max(nearness, key=lambda place: nearness[place])
        title = f"{dataset_title(dataset)}, {method_title(method, variant)}"
        models.append(Maps(title, relative, nearest))
    return models
