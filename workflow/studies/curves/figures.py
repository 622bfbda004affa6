"""Figures of processes on curves: their training, examples, and attention."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import legend_below, logarithmic, method_styles, panels
from workflow.report.statistics import MODEL
from workflow.report.titles import method_title
from workflow.studies.curves.tables import CEILING, PARTS, TITLES, by_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {"update": "updates", "seconds": "seconds"}
AGAINST = tuple(LABELS)
CEILING_COLOR = "0.3"


def training(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Log-likelihood of validation curves against updates and against seconds."""
    trainings = _trainings(study)
    titles = list(dict.fromkeys(trainings["title"]))
    styles = method_styles(titles)
    figure, axes = panels(len(PARTS) * len(AGAINST), 9)
    cells = [(part, against) for part in PARTS for against in AGAINST]
    for axis, (part, against) in zip(axes, cells, strict=True):
        for title in titles:
            lines = trainings[trainings["title"] == title]
            means = lines.groupby("number").mean(numeric_only=True)
            color, _ = styles[title]
            axis.plot(means[against], means[part], color=color, label=title)
        axis.set_xlabel(LABELS[against])
        axis.set_ylabel(f"{part} points, nats")
        _clip(axis, trainings[part])
        if len(trainings):
            logarithmic(axis.xaxis)
    if titles:
        legend_below(figure, axes[0], columns=3)
    return figure


def examples(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """One curve of each kernel: mean and two standard deviations, beside the exact posterior's."""
    shown = _examples(study)
    titles = list(dict.fromkeys(title for title, _ in shown))
    kernels = list(dict.fromkeys(example["kernel"] for _, example in shown))
    figure, axes = panels(max(1, len(titles) * len(kernels)), 6, columns=max(1, len(kernels)))
    cells = [(title, kernel) for title in titles for kernel in kernels]
    for axis, (title, kernel) in zip(axes, cells, strict=False):
        of_cell = [
            example for name, example in shown if name == title and example["kernel"] == kernel
        ]
        _draw_curve(axis, of_cell[0])
        axis.set_title(f"{title}\n{TITLES[kernel]}")
    return figure


def attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Attention of the middle input to the context, by head, of one curve of the first kernel."""
    shown = _examples(study)
    by_title: dict[str, dict[str, Any]] = {}
    for title, example in shown:
        by_title.setdefault(title, example)
    figure, axes = panels(max(1, len(by_title)), 7, columns=3)
    for axis, (title, example) in zip(axes, by_title.items(), strict=False):
        middle = example["grid"][len(example["grid"]) // 2]
        for number, head in enumerate(example["attention"], 1):
            order = np.argsort(example["x"])
            x = np.array(example["x"])[order]
            weights = np.array(head)[order]
            axis.plot(x, weights, marker=".", linewidth=0.8, label=f"head {number}")
        axis.axvline(middle, color=CEILING_COLOR, linestyle=":", linewidth=0.8)
        axis.set_title(title)
        axis.set_xlabel("x of the context")
    axes[0].set_ylabel("attention")
    return figure


def _draw_curve(axis: Axes, example: dict[str, Any]) -> None:
    grid = np.array(example["grid"])
    mean = np.array(example["mean"])
    deviation = np.array(example["deviation"])
    axis.fill_between(grid, mean - 2 * deviation, mean + 2 * deviation, alpha=0.25, linewidth=0)
    axis.plot(grid, mean, linewidth=1)
    ceiling = np.array(example["ceiling_mean"])
    around = 2 * np.array(example["ceiling_deviation"])
    style = {"color": CEILING_COLOR, "linewidth": 0.7}
    axis.plot(grid, ceiling, label=CEILING, **style)
    axis.plot(grid, ceiling - around, linestyle=":", **style)
    axis.plot(grid, ceiling + around, linestyle=":", **style)
    axis.plot(example["x"], example["y"], "k.", markersize=3)
    spread = np.ptp(ceiling) + 2 * around.max()
    axis.set_ylim(ceiling.min() - 0.5 * spread, ceiling.max() + 0.5 * spread)


def _clip(axis: Axes, values: pd.Series) -> None:
    """Leave out what the first evaluations are below."""
    if len(values):
        top = values.max()
        low = values.quantile(0.1)
        axis.set_ylim(low - 0.1 * (top - low), top + 0.1 * (top - low))


def _trainings(study: pd.DataFrame) -> pd.DataFrame:
    """Evaluations of every training: title, seed, number and the columns of the training."""
    frames = [pd.DataFrame(columns=["title", "seed", "number", *AGAINST, *PARTS])]
    for row in _with(study, "training"):
        frame = pd.DataFrame(json.loads(row["training"]))
        title = method_title(row["method"], row["variant"])
        frames.append(frame.assign(title=title, seed=row["seed"], number=range(len(frame))))
    return pd.concat([frame for frame in frames if len(frame)] or frames, ignore_index=True)


def _examples(study: pd.DataFrame) -> list[tuple[str, dict[str, Any]]]:
    """Title and example of the first seed of every model."""
    shown: list[tuple[str, dict[str, Any]]] = []
    seen: set[tuple[Any, ...]] = set()
    for row in _with(study, "examples"):
        model = tuple(row[name] for name in MODEL)
        if model not in seen:
            seen.add(model)
            title = method_title(row["method"], row["variant"])
            curves = json.loads(row["examples"])["curves"]
            shown += [(title, curve) for curve in curves]
    return shown


def _with(study: pd.DataFrame, column: str) -> list[dict[Any, Any]]:
    """Finished rows that have a column."""
    if column not in study or by_seed(study).empty:
        return []
    return study[study["status"] == "ok"].to_dict("records")
