"""Figures of processes on curves: their training, examples, and attention."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import legend_below, logarithmic, method_styles, panels
from workflow.report.titles import method_title
from workflow.studies.curves.tables import PARTS, TITLES
from workflow.studies.process_rows import finished_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {"update": "updates", "seconds": "seconds"}
CEILING = {"color": "0.3", "linewidth": 0.7}  # style of the exact posterior
SHARE_BELOW = 0.1  # of the evaluations, which may be below the axis
MARGIN = 0.1
Example = dict[str, Any]
Band = tuple[np.ndarray, np.ndarray, np.ndarray]


def training(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Log-likelihood of validation curves against updates and against seconds."""
    evaluations = _evaluations(study)
    titles = list(dict.fromkeys(evaluations["title"]))
    styles = method_styles(titles)
    figure, axes = panels(len(PARTS) * len(LABELS), 9)
    cells = itertools.product(PARTS, LABELS)
    for axis, (part, against) in zip(axes, cells, strict=True):
        for title in titles:
            of_model = evaluations[evaluations["title"] == title]
            by_number = of_model.groupby("number")
            means = by_number[[against, part]].mean()
            color, _ = styles[title]
            axis.plot(
                means[against],
                means[part],
                color=color,
                label=title,
            )
        axis.set_xlabel(LABELS[against])
        axis.set_ylabel(f"{part} points, nats")
        if titles:
            logarithmic(axis.xaxis)
            _cut_off(axis, evaluations[part])
    if titles:
        legend_below(figure, axes[0], columns=3)
    return figure


def examples(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """One curve of each kernel: mean and two standard deviations, with the exact posterior's."""
    shown: list[tuple[str, Example]] = []
    kernels: dict[str, None] = {}
    for title, curves in _examples(study).items():
        first_of_kernel: dict[str, Example] = {}
        for curve in curves:
            first_of_kernel.setdefault(curve["kernel"], curve)
        for kernel in TITLES:
            if kernel in first_of_kernel:
                kernels[kernel] = None
                shown.append((title, first_of_kernel[kernel]))
    columns = max(1, len(kernels))
    count = max(1, len(shown))
    figure, axes = panels(count, 6, columns=columns)
    for axis, (title, curve) in zip(axes, shown, strict=False):
        _draw_curve(axis, curve)
        axis.set_title(f"{title}\n{TITLES[curve['kernel']]}")
    return figure


def attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Attention of the middle input to the context, by head, of one curve of the first kernel."""
    shown = _examples(study)
    count = max(1, len(shown))
    figure, axes = panels(count, 7, columns=3)
    for axis, (title, curves) in zip(axes, shown.items(), strict=False):
        curve = curves[0]
        x = np.array(curve["x"])
        order = np.argsort(x)
        for weights in curve["attention"]:
            of_head = np.array(weights)
            axis.plot(
                x[order],
                of_head[order],
                marker=".",
                linewidth=0.8,
            )
        middle = len(curve["grid"]) // 2
        query = curve["grid"][middle]
        axis.axvline(query, linestyle=":", **CEILING)
        axis.set_ylim(bottom=0)
        axis.set_title(title)
        axis.set_xlabel("x of the context")
    axes[0].set_ylabel("attention")
    return figure


def _draw_curve(axis: Axes, curve: Example) -> None:
    grid = curve["grid"]
    low, mean, high = _band(curve, "")
    axis.fill_between(
        grid,
        low,
        high,
        alpha=0.25,
        linewidth=0,
    )
    axis.plot(grid, mean, linewidth=1)
    low, mean, high = _band(curve, "ceiling_")
    axis.plot(grid, mean, **CEILING)
    axis.plot(grid, low, linestyle=":", **CEILING)
    axis.plot(grid, high, linestyle=":", **CEILING)
    axis.plot(curve["x"], curve["y"], "k.", markersize=3)
    bottom = low.min()
    top = high.max()
    margin = 0.5 * (top - bottom)
    axis.set_ylim(bottom - margin, top + margin)


def _band(curve: Example, prefix: str) -> Band:
    """Mean less two standard deviations, mean, and mean plus two."""
    mean = np.array(curve[f"{prefix}mean"])
    around = 2 * np.array(curve[f"{prefix}deviation"])
    return mean - around, mean, mean + around


def _cut_off(axis: Axes, values: pd.Series) -> None:
    """Leave out the lowest evaluations, which are the first."""
    top = values.max()
    low = values.quantile(SHARE_BELOW)
    margin = MARGIN * (top - low)
    if margin > 0:
        axis.set_ylim(low - margin, top + margin)


def _evaluations(study: pd.DataFrame) -> pd.DataFrame:
    """Evaluations of every training: title, number and the columns of the training."""
    frames: list[pd.DataFrame] = []
    for row in finished_rows(study, "kernels"):
        columns = json.loads(row["training"])
        frame = pd.DataFrame(columns)
        title = method_title(row["method"], row["variant"])
        frame["title"] = title
        frame["number"] = range(len(frame))
        frames.append(frame)
    if not frames:
        return pd.DataFrame(columns=["title", "number", *LABELS, *PARTS])
    return pd.concat(frames, ignore_index=True)


def _examples(study: pd.DataFrame) -> dict[str, list[Example]]:
    """Curves of the first seed of every model, by its title."""
    shown: dict[str, list[Example]] = {}
    for row in finished_rows(study, "kernels"):
        title = method_title(row["method"], row["variant"])
        content = json.loads(row["examples"])
        shown.setdefault(title, content["curves"])
    return shown
