"""Figures of processes: their training, examples of curves and images, and attention."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import PAGE, legend_below, logarithmic, method_styles, panels, pyplot
from workflow.report.titles import method_title
from workflow.studies.processes.tables import KERNELS, PARTS, finished_rows
from workflow.studies.processes.tasks import RANDOM, SIDE, TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {"update": "updates", "seconds": "seconds"}
CEILING = {"color": "0.3", "linewidth": 0.7}  # style of the exact posterior
SHARE_BELOW = 0.1  # of the evaluations, which may be below the axis
MARGIN = 0.1
CELL = 0.72  # inches of a picture
HIDDEN = (0.55, 0.7, 0.9)  # color of a pixel that is not shown
ATTENTION_TASK = f"random_{RANDOM[-1]}"
SMALL = 6  # size of letters
LARGEST_DOT = 40
WHITE = 255
Example = dict[str, Any]


def training(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean log density of context points and of targets on held-out curves during the training,
    against updates and against seconds. Means over seeds. The first evaluations may be below the
    axis.
    """
    frames = [pd.DataFrame(columns=["title", "number", *LABELS, *PARTS])]
    for row in finished_rows(study, "kernels"):
        frame = pd.DataFrame(json.loads(row["training"]))
        title = method_title(row["method"], row["variant"])
        frames.append(frame.assign(title=title, number=range(len(frame))))
    evaluations = pd.concat(frames[1:] or frames, ignore_index=True)
    means = evaluations.groupby(["title", "number"], sort=False)[[*LABELS, *PARTS]].mean()
    by_title = means.groupby("title", sort=False)
    styles = method_styles(list(evaluations["title"].unique()))
    figure, axes = panels(len(PARTS) * len(LABELS), 9)
    for index, axis in enumerate(axes):
        part, against = PARTS[index // len(LABELS)], list(LABELS)[index % len(LABELS)]
        for title, line in by_title:
            axis.plot(line[against], line[part], color=styles[str(title)][0], label=title)
        axis.set_xlabel(LABELS[against])
        axis.set_ylabel(f"{part} points, nats")
        if styles:
            logarithmic(axis.xaxis)
            top, low = evaluations[part].max(), evaluations[part].quantile(SHARE_BELOW)
            margin = MARGIN * (top - low)
            if margin > 0:  # the lowest evaluations, which are the first, are left out
                axis.set_ylim(low - margin, top + margin)
    if styles:
        legend_below(figure, axes[0], columns=3)
    return figure


def examples(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """One held-out curve of each kernel, of which the points are shown: predicted mean and two
    standard deviations of each model, in black those of the exact posterior. The models were
    trained on RBF curves.
    """
    first_curves: dict[tuple[str, str], Example] = {}
    for title, curves in _examples(study, "curves").items():
        for kernel in KERNELS:
            for curve in curves:
                if curve["kernel"] == kernel:
                    first_curves.setdefault((title, kernel), curve)
    kernels = {kernel for _, kernel in first_curves}
    columns = max(1, len(kernels))
    figure, axes = panels(max(1, len(first_curves)), 6, columns=columns)
    for axis, ((title, kernel), curve) in zip(axes, first_curves.items(), strict=False):
        low, mean, high = _band(curve, "")
        axis.fill_between(curve["grid"], low, high, alpha=0.25, linewidth=0)
        axis.plot(curve["grid"], mean, linewidth=1)
        low, mean, high = _band(curve, "ceiling_")
        axis.plot(curve["grid"], mean, **CEILING)
        axis.plot(curve["grid"], low, linestyle=":", **CEILING)
        axis.plot(curve["grid"], high, linestyle=":", **CEILING)
        axis.plot(curve["x"], curve["y"], "k.", markersize=3)
        margin = 0.5 * (high.max() - low.min())
        axis.set_ylim(low.min() - margin, high.max() + margin)
        axis.set_title(f"{title}\n{KERNELS[kernel]}")
    return figure


def attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Attention of the input at the dotted line to the context points of one held-out RBF curve, by
    head. Of NPT it is the first block between datapoints, and sums to one with the attention among
    targets.
    """
    curves_by_title = _examples(study, "curves")
    figure, axes = panels(max(1, len(curves_by_title)), 7, columns=3)
    for axis, (title, curves) in zip(axes, curves_by_title.items(), strict=False):
        curve = curves[0]
        order = np.argsort(curve["x"])
        for weights in curve["attention"]:
            x, heights = np.array(curve["x"])[order], np.array(weights)[order]
            axis.plot(x, heights, marker=".", linewidth=0.8)
        middle = len(curve["grid"]) // 2
        axis.axvline(curve["grid"][middle], linestyle=":", **CEILING)
        axis.set_ylim(bottom=0)
        axis.set_title(title)
        axis.set_xlabel("x of the context")
    axes[0].set_ylabel("attention")
    return figure


def completions(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """One held-out image: the shown pixels of each task, the predicted mean, and means for single
    draws of the latent variable. A model without a latent variable has no samples. All tasks are
    asked of the same weights.
    """
    rows: list[tuple[str, Example]] = []
    for title, images in _examples(study, "images").items():
        for image in images:
            rows.append((f"{title}\n{TITLES[image['task']]}", image))
    columns = max([2, *(len(image["pictures"]) for _, image in rows)])
    figure, grid = _grid([label for label, _ in rows], columns)
    for axes, (_, image) in zip(grid, rows, strict=False):
        truth, *completed = [np.reshape(picture, (SIDE, SIDE)) for picture in image["pictures"]]
        pixels = np.tile(HIDDEN, (SIDE * SIDE, 1))
        pixels[image["shown"]] = truth.flatten()[image["shown"]][:, None] / WHITE
        axes[0].imshow(pixels.reshape(SIDE, SIDE, 3), interpolation="nearest")
        for axis, picture in zip(axes[1:], completed, strict=False):
            axis.imshow(picture, cmap="gray", vmin=0, vmax=WHITE, interpolation="nearest")
    if rows:
        samples = [f"sample {index}" for index in range(1, columns - 1)]
        for axis, heading in zip(grid[0], ["shown", "mean", *samples], strict=False):
            axis.set_title(heading, fontsize=SMALL)
    return figure


def pixel_attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Attention of the middle pixel (cross) to 100 random pixels of a held-out image, by head; the
    area of a dot is the weight. Of NPT it is the first block between datapoints.
    """
    shown = {
        title: image
        for title, images in _examples(study, "images").items()
        for image in images
        if image["task"] == ATTENTION_TASK
    }
    columns = max([2, *(len(image["attention"]) for image in shown.values())])
    figure, grid = _grid(list(shown), columns)
    for axes, image in zip(grid, shown.values(), strict=False):
        y, x = np.divmod(image["shown"], SIDE)
        for axis, weights in zip(axes, image["attention"], strict=False):
            sizes = LARGEST_DOT * np.array(weights) / max(weights)
            axis.scatter(x, y, s=sizes, color="C0", linewidths=0)
            axis.plot(SIDE // 2, SIDE // 2, "k+", markersize=4)
            axis.set(xlim=(-1, SIDE), ylim=(SIDE, -1), aspect="equal", frame_on=True)
    return figure


def _band(curve: Example, prefix: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean less two standard deviations, mean, and mean plus two."""
    mean = np.array(curve[f"{prefix}mean"])
    around = 2 * np.array(curve[f"{prefix}deviation"])
    return mean - around, mean, mean + around


def _grid(labels: list[str], columns: int) -> tuple[Figure, np.ndarray]:
    """Axes of pictures, a row with a label at its left for each of the labels."""
    rows = max(1, len(labels))
    size = (PAGE, CELL * rows + CELL / 2)
    figure, grid = pyplot().subplots(
        rows, columns, figsize=size, squeeze=False, layout="constrained"
    )
    for axis in grid.flat:
        axis.set(xticks=[], yticks=[], frame_on=False)
        axis.grid(visible=False)
    for axis, label in zip(grid[:, 0], labels, strict=False):
        axis.set_ylabel(label, rotation=0, ha="right", va="center", fontsize=SMALL)
    return figure, grid


def _examples(study: pd.DataFrame, what: str) -> dict[str, list[Example]]:
    """Examples of the first seed of every model, by its title; of images or of curves."""
    by_title: dict[str, list[Example]] = {}
    for row in finished_rows(study, "examples"):
        title = method_title(row["method"], row["variant"])
        content = json.loads(row["examples"])
        if what in content:
            by_title.setdefault(title, content[what])
    return by_title
