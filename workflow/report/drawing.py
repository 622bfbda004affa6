"""What all figures are drawn with: one style, panels as wide as a column or a page of a paper, means with error bars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import pandas as pd

matplotlib.use("Agg")

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("figure.mplstyle")
COLUMN, PAGE = 3.4, 7.0  # inches
ROW_HEIGHT, MARGIN = 0.17, 0.75
NPT_COLOR, OTHER_COLOR = "#d55e00", "#0072b2"
COLORS = (
    NPT_COLOR,
    OTHER_COLOR,
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#000000",
    "#7f7f7f",
    "#a6761d",
)
MARKERS = "Dos^vPX<>"
UNDATED: dict[
    str, dict[str, Any]
] = {  # metadata of each format, so that the same data give the same bytes
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


def pyplot() -> Any:
    """matplotlib.pyplot in the one style."""
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.style.use(STYLE)
    return plt


def panels(count: int, rows: int) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels, each as high as so many rows of text: one fills a column, several a page, in pairs."""
    columns = min(2, count)
    lines = -(-count // columns)
    size = (COLUMN if columns == 1 else PAGE, (ROW_HEIGHT * rows + MARGIN) * lines)
    figure, axes = pyplot().subplots(
        lines, columns, figsize=size, squeeze=False, layout="constrained"
    )
    for unused in axes.flat[count:]:
        unused.set_visible(False)
    return figure, list(axes.flat[:count])


def points(
    axis: Axes,
    labels: list[str],
    means: pd.Series,
    errors: pd.Series,
    highlight: list[str] | None = None,
) -> None:
    """Means with error bars, the first label on top; NPT, or `highlight`, in its own colour."""
    bright = set(labels if highlight is None else highlight)
    for place, (label, mean, error) in enumerate(zip(labels, means, errors, strict=True)):
        height = len(labels) - 1 - place
        if pd.isna(mean):
            axis.annotate(
                "no result",
                (0.02, height),
                xycoords=("axes fraction", "data"),
                va="center",
                color="0.4",
            )
            continue
        special = label in bright if highlight is not None else label.startswith("NPT")
        color, marker = (NPT_COLOR, "D") if special else (OTHER_COLOR, "o")
        width = 0 if pd.isna(error) else error
        axis.errorbar(mean, height, xerr=width or None, fmt=marker, color=color, capsize=2)
    if means.isna().any():
        axis.set_ylim(-0.6, len(labels) - 0.4)
    axis.set_yticks(range(len(labels)), reversed(labels))
    axis.grid(axis="y", visible=False)


def zero_line(axis: Axes) -> None:
    """A dotted line at no change."""
    axis.axvline(0, color="0.3", linewidth=0.8, linestyle=":")


def method_styles(titles: list[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each method; the first are kept for NPT, so that it looks alike in all figures."""
    order = sorted(dict.fromkeys(titles), key=lambda title: not title.startswith("NPT"))
    start = int(not order or not order[0].startswith("NPT"))
    places = range(start, start + len(order))
    pairs = [
        (COLORS[i % len(COLORS)], MARKERS[(i + i // len(COLORS)) % len(MARKERS)]) for i in places
    ]
    return dict(zip(order, pairs, strict=True))
