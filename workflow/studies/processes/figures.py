"""Figures of processes: their training, and examples of completed images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import PAGE, legend_below, logarithmic, method_styles, panels, pyplot
from workflow.report.statistics import MODEL
from workflow.report.titles import method_title, method_titles
from workflow.studies.facts import facts_of, first_facts
from workflow.studies.processes.tables import PARTS
from workflow.studies.processes.tasks import SIDE, TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGAINST = {"update": "updates", "seconds": "seconds"}
SHARE_BELOW = 0.1  # of the evaluations, which may be below the axis
CELL = 0.72  # inches of a picture
HIDDEN = (0.55, 0.7, 0.9)  # color of a pixel that is not shown
SMALL = 6  # size of letters
WHITE = 255


def training(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean log density of context points and of targets on held-out curves during the training,
    against updates and against seconds. Means over seeds. The first evaluations may be below the
    axis.
    """
    evaluations = facts_of(study, "training", ("update",))
    means = evaluations.groupby([*MODEL, "update"], sort=False).mean(numeric_only=True)
    means = means.reset_index()
    if means.empty:
        return panels(0, 0)[0]
    means["title"] = method_titles(means)
    styles = method_styles(means["title"])
    places = [(part, against) for part in PARTS for against in AGAINST]
    figure, axes = panels(len(places), 9)
    for axis, (part, against) in zip(axes, places, strict=True):
        for title, line in means.groupby("title", sort=False):
            axis.plot(line[against], line[part], color=styles[str(title)][0], label=title)
        axis.set(xlabel=AGAINST[against], ylabel=f"{part} points, nats")
        logarithmic(axis.xaxis)
        axis.set_ylim(bottom=float(means[part].quantile(SHARE_BELOW)))
    legend_below(figure, axes[0], columns=3)
    return figure


def completions(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """One held-out image: the shown pixels of each task, the predicted mean, and means for single
    draws of the latent variable. A model without a latent variable has no samples. All tasks are
    asked of the same weights.
    """
    images = []
    for row, examples in first_facts(study, "examples"):
        title = method_title(row["method"], row["variant"])
        images += [(title, image) for image in examples.get("images", [])]
    if not images:
        return panels(0, 0)[0]
    columns = max(len(image["pictures"]) for _, image in images)
    size = (PAGE, CELL * len(images) + CELL / 2)
    figure, grid = pyplot().subplots(
        len(images), columns, figsize=size, squeeze=False, layout="constrained"
    )
    for axis in grid.flat:
        axis.set(xticks=[], yticks=[], frame_on=False)
        axis.grid(visible=False)
    for axes, (title, image) in zip(grid, images, strict=True):
        label = f"{title}\n{TITLES[image['task']]}"
        axes[0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=SMALL)
        pictures = np.reshape(image["pictures"], (-1, SIDE, SIDE))
        pixels = np.tile(HIDDEN, (SIDE * SIDE, 1))
        pixels[image["shown"]] = pictures[0].flatten()[image["shown"]][:, None] / WHITE
        axes[0].imshow(pixels.reshape(SIDE, SIDE, 3), interpolation="nearest")
        for axis, picture in zip(axes[1:], pictures[1:], strict=False):
            axis.imshow(picture, cmap="gray", vmin=0, vmax=WHITE, interpolation="nearest")
    samples = [f"sample {index}" for index in range(1, columns - 1)]
    for axis, heading in zip(grid[0], ["shown", "mean", *samples], strict=True):
        axis.set_title(heading, fontsize=SMALL)
    return figure
