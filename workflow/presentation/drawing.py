"""Style of all figures: panels over the full width of a page, the same colors for each NPT."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

matplotlib.use("Agg")

STYLE = Path(__file__).with_name("figure.mplstyle")
PAGE = 7.0  # inches
ROW_HEIGHT, MARGIN = 0.17, 0.75
FEWEST_ROWS = 4  # that a panel is high
NPT_COLOR, COMPACT_COLOR, SOLVED_COLOR, OTHER_COLOR = "#d55e00", "#cc79a7", "#8c1c13", "#0072b2"
OTHER_STYLE = (OTHER_COLOR, "s")
NPT_STYLES = {
    "npt": (NPT_COLOR, "D"),
    "npt_compact": (COMPACT_COLOR, "o"),
    "npt_solved": (SOLVED_COLOR, "h"),
}
COLORS = (OTHER_COLOR, "#009e73", "#56b4e9", "#e69f00", "#000000", "#7f7f7f", "#a6761d")
MARKERS = "s^vPX<>"
MOST_LABELS = {"x": 4, "y": 6}  # of a logarithmic axis of a small panel
WIDE = 5.0  # ratio of errors beyond which their axis is logarithmic
EQUAL = {"color": "0.3", "linestyle": ":", "linewidth": 0.9}  # line of no change or of equality


def pyplot() -> Any:
    """matplotlib.pyplot in the project's style."""
    plt.rcdefaults()
    plt.style.use(STYLE)
    return plt


def panels(count: int, rows: int, *, columns: int = 2) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels, each as high as `rows` lines of text.

    Without panels, it has a single empty one that says so.

    Args:
        columns: Panels in a line at most.
    """
    if not count:
        figure, axis = pyplot().subplots(figsize=(PAGE, 0.5), layout="constrained")
        axis.set_axis_off()
        axis.set_title("No result")
        return figure, [axis]
    lines = math.ceil(count / columns)
    columns = math.ceil(count / lines)
    figure, axes = pyplot().subplots(
        lines,
        columns,
        figsize=(PAGE, (ROW_HEIGHT * max(rows, FEWEST_ROWS) + MARGIN) * lines),
        squeeze=False,
        layout="constrained",
    )
    for unused in axes.flat[count:]:
        unused.set_visible(False)
    return figure, list(axes.flat[:count])


def facets(
    frame: pd.DataFrame, by: str | list[str], rows: int = 0, columns: int = 2
) -> tuple[Figure, list[tuple[Any, pd.DataFrame, Axes]]]:
    """A figure, and each group of rows with its panel, which is as high as its rows by default."""
    groups = frame.groupby(by, sort=False)
    figure, axes = panels(groups.ngroups, rows or groups.size().max(), columns=columns)
    parts = zip(groups, axes, strict=False)
    return figure, [(names, part, axis) for (names, part), axis in parts]


def points(axis: Axes, frame: pd.DataFrame, value: str, error: str) -> None:
    """A mark for each row, the first on top; NPTs in colors of their own.

    Args:
        frame: Its `title` labels a row, whose style is that of its `method`.
        value: Column of the marks; a row without one says so.
        error: Column of half the length of their bars.
    """
    for place, row in enumerate(frame.to_dict("records")):
        color, marker = NPT_STYLES.get(row["method"], OTHER_STYLE)
        axis.errorbar(row[value], place, xerr=row[error], color=color, marker=marker)
        if pd.isna(row[value]):
            left = axis.get_yaxis_transform()
            axis.text(0.02, place, "no result", transform=left, va="center", color="0.4")
    axis.set_yticks(range(len(frame)), frame["title"])
    axis.set_ylim(len(frame) - 0.4, -0.6)
    axis.xaxis.set_major_locator(MaxNLocator(3))
    axis.grid(axis="y", visible=False)


def logarithmic(axis: Axis) -> None:
    """A logarithmic axis with few plain numbers: powers of ten, and round ones if these are few."""
    name: str = axis.axis_name  # type: ignore[attr-defined]
    most = MOST_LABELS[name]

    class Few(LogLocator):
        def tick_values(self, vmin: float, vmax: float) -> np.ndarray:
            vmin, vmax = sorted((vmin, vmax))
            powers = np.asarray(super().tick_values(vmin, vmax))
            if np.count_nonzero((powers >= vmin) & (powers <= vmax)) >= 2:
                return powers
            round_numbers = MaxNLocator(most - 1, steps=[1, 2, 5, 10])
            return np.asarray(round_numbers.tick_values(vmin, vmax))

    axis.axes.set(**{f"{name}scale": "log"})
    axis.set_major_locator(Few(numticks=most))
    axis.set_major_formatter(FuncFormatter(_plain))
    axis.set_minor_formatter(NullFormatter())


def _plain(value: float, position: int | None) -> str:
    """A number, which is a power of ten if it would have an exponent."""
    plain = f"{value:.6g}"
    mantissa, has_exponent, exponent = plain.partition("e")
    if not has_exponent:
        return plain
    factor = "" if mantissa == "1" else rf"{mantissa} \cdot "
    return f"${factor}10^{{{int(exponent)}}}$"


def legend_below(figure: Figure, columns: int) -> None:
    """The legend of the first panel below all, in place of theirs, with each label once."""
    handles_by_label: dict[str, Any] = {}
    for handle, label in zip(*figure.axes[0].get_legend_handles_labels(), strict=True):
        handles_by_label.setdefault(label, handle)
    for panel in figure.axes:
        if legend := panel.get_legend():
            legend.remove()
    figure.legend(
        list(handles_by_label.values()),
        list(handles_by_label),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
    )


def method_styles(frame: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Color and marker of each `title` of a frame; each NPT has its own in all figures."""
    styles = {}
    others = 0
    for title, method in frame[["title", "method"]].drop_duplicates().to_numpy():
        style = NPT_STYLES.get(method)
        if style is None or style in styles.values():
            cycle, place = divmod(others, len(COLORS))
            style = (COLORS[place], MARKERS[(others + cycle) % len(MARKERS)])
            others += 1
        styles[title] = style
    return styles


def by_title(frame: pd.DataFrame) -> dict[str, Any]:
    """Arguments of seaborn that draw each method of a frame, by its `title`, in its style."""
    styles = method_styles(frame)
    return {
        "hue": "title",
        "style": "title",
        "hue_order": list(styles),
        "style_order": list(styles),
        "dashes": False,
        "palette": {title: color for title, (color, _) in styles.items()},
        "markers": {title: marker for title, (_, marker) in styles.items()},
    }
