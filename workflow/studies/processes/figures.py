"""Figures of processes: their training, and examples of curves and images."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import PAGE, legend_below, logarithmic, method_styles, panels, pyplot
from workflow.report.statistics import MODEL, without_failures
from workflow.report.titles import method_title, method_titles
from workflow.studies.processes.tables import KERNELS, PARTS, facts_of
from workflow.studies.processes.tasks import SIDE, TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGAINST = {"update": "updates", "seconds": "seconds"}
CEILING = {"color": "0.3", "linewidth": 0.7}  # style of the exact posterior
SHARE_BELOW = 0.1  # of the evaluations, which may be below the axis
CELL = 0.72  # inches of a picture
HIDDEN = (0.55, 0.7, 0.9)  # color of a pixel that is not shown
SMALL = 6  # size of letters
WHITE = 255
Example = dict[str, Any]


def training(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean log density of context points and of targets on held-out curves during the training,
    against updates and against seconds. Means over seeds. The first evaluations may be below the
    axis.
    """
    evaluations = facts_of(study, "training", ("update",))
    seeds = evaluations.groupby([*MODEL, "update"], sort=False)
    means = seeds.mean(numeric_only=True).reset_index()
    means["title"] = method_titles(means)
    styles = method_styles(means)
    if means.empty:
        return panels(0, 0)[0]
    places = [(part, against) for part in PARTS for against in AGAINST]
    figure, axes = panels(len(places), 9)
    for axis, (part, against) in zip(axes, places, strict=True):
        for title, line in means.groupby("title", sort=False):
            axis.plot(line[against], line[part], color=styles[str(title)][0], label=title)
        axis.set(xlabel=AGAINST[against], ylabel=f"{part} points, nats")
        logarithmic(axis.xaxis)
        axis.set_ylim(
            bottom=float(means[part].quantile(SHARE_BELOW))
        )  # without the first evaluations
    legend_below(figure, axes[0], columns=3)
    return figure


def examples(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """One held-out curve of each kernel, of which the points are shown: predicted mean and two
    standard deviations of each model, in black those of the exact posterior. The models were
    trained on RBF curves.
    """
    curves = _examples(study, "curves")
    kernels = {curve["kernel"] for _, curve in curves}
    figure, axes = panels(len(curves), 6, columns=max(1, len(kernels)))
    for axis, (title, curve) in zip(axes, curves, strict=False):
        low, mean, high = _band(curve, "")
        axis.fill_between(curve["grid"], low, high, alpha=0.25, linewidth=0)
        axis.plot(curve["grid"], mean, linewidth=1)
        low, mean, high = _band(curve, "ceiling_")
        axis.plot(curve["grid"], mean, **CEILING)
        axis.plot(curve["grid"], np.stack([low, high], 1), linestyle=":", **CEILING)
        axis.plot(curve["x"], curve["y"], "k.", markersize=3)
        margin = 0.5 * (high.max() - low.min())
        axis.set_ylim(low.min() - margin, high.max() + margin)
        axis.set_title(f"{title}\n{KERNELS[curve['kernel']]}")
    return figure


def completions(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """One held-out image: the shown pixels of each task, the predicted mean, and means for single
    draws of the latent variable. A model without a latent variable has no samples. All tasks are
    asked of the same weights.
    """
    images = _examples(study, "images")
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
        truth, *completed = [np.reshape(picture, (SIDE, SIDE)) for picture in image["pictures"]]
        pixels = np.tile(HIDDEN, (SIDE * SIDE, 1))
        pixels[image["shown"]] = truth.flatten()[image["shown"]][:, None] / WHITE
        axes[0].imshow(pixels.reshape(SIDE, SIDE, 3), interpolation="nearest")
        for axis, picture in zip(axes[1:], completed, strict=False):
            axis.imshow(picture, cmap="gray", vmin=0, vmax=WHITE, interpolation="nearest")
    samples = [f"sample {index}" for index in range(1, columns - 1)]
    for axis, heading in zip(grid[0], ["shown", "mean", *samples], strict=True):
        axis.set_title(heading, fontsize=SMALL)
    return figure


def _band(curve: Example, prefix: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean less two standard deviations, mean, and mean plus two."""
    mean = np.array(curve[f"{prefix}mean"])
    around = 2 * np.array(curve[f"{prefix}deviation"])
    return mean - around, mean, mean + around


def _examples(study: pd.DataFrame, what: str) -> list[tuple[str, Example]]:
    """Examples of the first seed of every model with its title; of images or of curves."""
    if "examples" not in study:
        return []
    titled = []
    for row in without_failures(study).drop_duplicates(MODEL).to_dict("records"):
        title = method_title(row["method"], row["variant"])
        titled += [(title, example) for example in json.loads(row["examples"]).get(what, [])]
    return titled
