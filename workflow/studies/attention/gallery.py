"""Images and those that they attend to, drawn as pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.report.statistics import MODEL, with_columns, without_failures
from workflow.report.titles import dataset_title, method_title
from workflow.studies.attention.pictures import ATTENDED, DRAWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

CELL = 0.72  # inches of a picture with its title
TITLE = 0.3
SMALL = 6  # size of letters
SAME, OTHER = "#009e73", "#d55e00"  # colors of frames: the query's class, and others
FRAME = 1.5
WHITE = 255
COLORED = 3  # channels
Picture = dict[str, Any]
Gallery = dict[str, list[Picture]]


def queries_of_models(study: pd.DataFrame) -> Gallery:
    """Query images of the first fold of every model of images, by its title."""
    gallery: Gallery = {}
    models = with_columns(without_failures(study), ["pictures"]).drop_duplicates(MODEL)
    for row in models.dropna(subset="pictures").to_dict("records"):
        method = method_title(row["method"], row["variant"])
        gallery[f"{dataset_title(row['dataset'])}, {method}"] = json.loads(row["pictures"])[
            "queries"
        ]
    return {title: queries for title, queries in gallery.items() if queries}


def gallery_height(gallery: Gallery) -> float:
    """Height in inches."""
    return len(gallery) * ((ATTENDED + 1) * CELL + TITLE)


def draw_gallery(figure: Figure | SubFigure, gallery: Gallery) -> None:
    """Of each model a column for each query: the query, and what it attends to most."""
    parts = figure.subfigures(len(gallery), 1, squeeze=False)
    for part, (title, queries) in zip(parts.flat, gallery.items(), strict=True):
        part.suptitle(f"{title}: images with the most attention, mean of all heads")
        grid = part.subplots(ATTENDED + 1, DRAWN, squeeze=False)
        for axis in grid.flat:
            axis.set(xticks=[], yticks=[], frame_on=False)
            axis.grid(visible=False)
        for column, query in zip(grid.T, queries, strict=False):
            _draw(column[0], query, f"query: {query['class']}")
            for axis, attended in zip(column[1:], query["attended"], strict=False):
                _draw(axis, attended, f"{attended['class']}, {attended['relative']:g} ×")
                color = SAME if attended["class"] == query["class"] else OTHER
                axis.set_frame_on(True)
                axis.spines[:].set(visible=True, color=color, linewidth=FRAME)


def _draw(axis: Axes, picture: Picture, title: str) -> None:
    """An image in colors if it has three channels, else the mean of its channels in grey."""
    intensities = np.array(picture["intensities"]).reshape(picture["shape"])
    pixels = np.moveaxis(intensities, 0, -1) / WHITE  # (h, w, c)
    if pixels.shape[-1] != COLORED:
        pixels = pixels.mean(-1)
    axis.imshow(
        pixels,
        cmap="gray",
        vmin=0,
        vmax=1,
        interpolation="nearest",
    )
    axis.set_title(title, fontsize=SMALL)
