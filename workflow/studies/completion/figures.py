"""Figures of completed images, and of the attention of a pixel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import PAGE, pyplot
from workflow.report.titles import method_title
from workflow.studies.completion.tasks import RANDOM, SIDE, TITLES
from workflow.studies.process_rows import finished_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL = 0.72  # inches of a picture
HIDDEN = (0.55, 0.7, 0.9)  # color of a pixel that is not shown
MIDDLE = SIDE // 2
ATTENTION_TASK = f"random_{RANDOM[-1]}"
SMALL = 6  # size of letters
LARGEST_DOT = 40
WHITE = 255
Example = dict[str, Any]
Grid = list[list["Axes"]]


def completions(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Of each model and task: the shown pixels, the mean, and samples."""
    rows: list[tuple[str, Example]] = []
    columns = 2
    for title, examples in _examples(study).items():
        for example in examples:
            rows.append((title, example))
            columns = max(columns, len(example["pictures"]))
    figure, grid = _grid(len(rows), columns)
    for axes, (title, example) in zip(grid, rows, strict=False):
        task = TITLES[example["task"]]
        _label(axes[0], f"{title}\n{task}")
        _draw_shown(axes[0], example)
        completed = example["pictures"][1:]
        for axis, picture in zip(axes[1:], completed, strict=False):
            _draw(axis, picture)
    headings = ["shown", "mean"]
    for number in range(1, columns - 1):
        headings.append(f"sample {number}")
    if rows:
        for axis, heading in zip(grid[0], headings, strict=False):
            axis.set_title(heading, fontsize=SMALL)
    return figure


def attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Attention of the middle pixel to the context, a row for each model, by head."""
    shown: dict[str, Example] = {}
    columns = 2
    for title, examples in _examples(study).items():
        for example in examples:
            if example["task"] == ATTENTION_TASK:
                shown[title] = example
                columns = max(columns, len(example["attention"]))
    figure, grid = _grid(len(shown), columns)
    rows = list(shown.items())
    for axes, (title, example) in zip(grid, rows, strict=False):
        _label(axes[0], title)
        heads = example["attention"]
        for axis, weights in zip(axes, heads, strict=False):
            _draw_weights(axis, example["shown"], weights)
    return figure


def _grid(rows: int, columns: int) -> tuple[Figure, Grid]:
    height = CELL * max(1, rows)
    figure, grid = pyplot().subplots(
        max(1, rows),
        columns,
        figsize=(PAGE, height + CELL / 2),
        squeeze=False,
        layout="constrained",
    )
    for axis in grid.flat:
        axis.set(xticks=[], yticks=[])
        axis.grid(visible=False)
        axis.set_frame_on(False)
    return figure, [list(axes) for axes in grid]


def _label(axis: Axes, title: str) -> None:
    """A label of a row, at its left."""
    axis.set_ylabel(
        title,
        rotation=0,
        ha="right",
        va="center",
        fontsize=SMALL,
    )


def _draw_weights(axis: Axes, shown: list[int], weights: list[float]) -> None:
    """Dots at the shown pixels, as large as their weights."""
    rows, columns = np.divmod(np.array(shown), SIDE)
    values = np.array(weights)
    axis.scatter(
        columns,
        rows,
        s=LARGEST_DOT * values / values.max(),
        color="C0",
        linewidths=0,
    )
    axis.plot(MIDDLE, MIDDLE, "k+", markersize=4)
    _frame(axis)


def _draw(axis: Axes, picture: list[int]) -> None:
    pixels = np.array(picture).reshape(SIDE, SIDE)
    axis.imshow(
        pixels,
        cmap="gray",
        vmin=0,
        vmax=WHITE,
        interpolation="nearest",
    )


def _draw_shown(axis: Axes, example: Example) -> None:
    """The shown pixels of the image."""
    shown = example["shown"]
    truth = np.array(example["pictures"][0]) / WHITE
    pixels = np.tile(HIDDEN, (SIDE * SIDE, 1))
    pixels[shown] = truth[shown][:, None]
    picture = pixels.reshape(SIDE, SIDE, 3)
    axis.imshow(picture, interpolation="nearest")


def _frame(axis: Axes) -> None:
    """The whole image, the first row on top."""
    axis.set_xlim(-1, SIDE)
    axis.set_ylim(SIDE, -1)
    axis.set_aspect("equal")
    axis.set_frame_on(True)


def _examples(study: pd.DataFrame) -> dict[str, list[Example]]:
    """Completions of the first seed of every model, by its title."""
    shown: dict[str, list[Example]] = {}
    for row in finished_rows(study, "tasks"):
        title = method_title(row["method"], row["variant"])
        content = json.loads(row["examples"])
        shown.setdefault(title, content["images"])
    return shown
