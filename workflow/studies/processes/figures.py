"""Figures of processes: their training, and examples of completed images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import legend_below, logarithmic, method_styles, panels
from workflow.report.statistics import MODEL
from workflow.report.titles import method_title, method_titles
from workflow.studies.facts import facts_of, first_facts
from workflow.studies.processes.tables import PARTS
from workflow.studies.processes.tasks import SIDE, TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGAINST = {"update": "updates", "seconds": "seconds"}
SHARE_BELOW = 0.1  # of the evaluations, which may be below the axis
CELL = SIDE + 2  # pixels of a picture with the gap
ROWS = 3  # lines of text that a picture is high
HIDDEN = (0.55, 0.7, 0.9)  # color of a pixel that is not shown
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
    styles = method_styles(means)
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
    mosaic = np.ones((len(images) * CELL, columns * CELL, 3))
    labels = []
    for line, (title, image) in enumerate(images):
        labels.append(f"{title}, {TITLES[image['task']]}")
        hidden = np.setdiff1d(np.arange(SIDE * SIDE), image["shown"])
        for column, intensities in enumerate(image["pictures"]):
            pixels = np.repeat(np.array(intensities)[:, None] / WHITE, 3, axis=1)  # (784, 3)
            if not column:
                pixels[hidden] = HIDDEN
            top, left = line * CELL, column * CELL
            mosaic[top : top + SIDE, left : left + SIDE] = pixels.reshape(SIDE, SIDE, 3)
    figure, (axis,) = panels(1, ROWS * len(images), columns=1)
    axis.imshow(mosaic, interpolation="nearest")
    axis.grid(visible=False)
    samples = [f"sample {index}" for index in range(1, columns - 1)]
    middles = CELL * np.arange(max(columns, len(images))) + SIDE / 2
    axis.set_xticks(middles[:columns], ["shown", "mean", *samples])
    axis.set_yticks(middles[: len(images)], labels)
    return figure
