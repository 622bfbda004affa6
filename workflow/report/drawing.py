"""Style of all figures: panels as wide as a column or page of a paper, means with error bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
import pandas as pd

from workflow.report.titles import npt_of_title

matplotlib.use("Agg")

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

STYLE = Path(__file__).with_name("figure.mplstyle")
COLUMN, PAGE = 3.4, 7.0  # inches
ROW_HEIGHT, MARGIN = 0.17, 0.75
NPT_COLOR, COMPACT_COLOR, SOLVED_COLOR, OTHER_COLOR = "#d55e00", "#cc79a7", "#8c1c13", "#0072b2"
NPT_STYLES = {
    "npt": (NPT_COLOR, "D"),
    "npt_compact": (COMPACT_COLOR, "o"),
    "npt_solved": (SOLVED_COLOR, "h"),
}
COLORS = (
    OTHER_COLOR,
    "#009e73",
    "#56b4e9",
    "#e69f00",
    "#000000",
    "#7f7f7f",
    "#a6761d",
)
MARKERS = "s^vPX<>"
MOST_LABELS = {"x": 4, "y": 6}  # of a logarithmic axis of a small panel


def pyplot() -> Any:
    """matplotlib.pyplot in the project's style."""
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.style.use(STYLE)
    return plt


def panels(
    count: int,
    rows: int,
    *,
    columns: int = 2,
    same_rows: bool = False,
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels, each as high as `rows` lines of text.

    One panel fills a column of a paper; several fill a page, `columns` in a line.

    Args:
        same_rows: Whether the panels of a line share their labels, at the left.
    """
    columns = min(columns, count)
    lines = -(-count // columns)
    width = COLUMN if columns == 1 else PAGE
    height = (ROW_HEIGHT * rows + MARGIN) * lines
    figure, axes = pyplot().subplots(
        lines,
        columns,
        figsize=(width, height),
        squeeze=False,
        sharey="row" if same_rows else "none",
        layout="constrained",
    )
    for unused in axes.flat[count:]:
        unused.set_visible(False)
    return figure, list(axes.flat[:count])


def stacked(rows: Sequence[int]) -> tuple[Figure, list[Axes]]:
    """A figure as wide as a column of a paper: panels below each other, of these lines of text."""
    height = sum(ROW_HEIGHT * lines + MARGIN for lines in rows)
    figure, axes = pyplot().subplots(
        len(rows),
        1,
        figsize=(COLUMN, height),
        squeeze=False,
        layout="constrained",
        height_ratios=[ROW_HEIGHT * lines + MARGIN / 2 for lines in rows],
    )
    return figure, list(axes.flat)


def points(
    axis: Axes,
    labels: list[str],
    means: pd.Series,
    errors: pd.Series,
    npts: Mapping[str, str] | None = None,
) -> None:
    """Means with error bars, the first label on top; NPTs in colors of their own.

    Args:
        npts: Name of the NPT by label; by default a label is the title of a method.
    """
    if npts is None:
        npts = {label: npt for label in labels if (npt := npt_of_title(label))}
    for label, height, mean, error in zip(labels, heights(labels), means, errors, strict=True):
        if pd.isna(mean):
            axis.annotate(
                "no result",
                (0.02, height),
                xycoords=("axes fraction", "data"),
                va="center",
                color="0.4",
            )
            continue
        color, marker = NPT_STYLES.get(npts.get(label, ""), (OTHER_COLOR, "s"))
        width = None if pd.isna(error) or error == 0 else error
        axis.errorbar(
            mean,
            height,
            xerr=width,
            fmt=marker,
            color=color,
            capsize=2,
        )
    if means.isna().any():
        fit_lines(axis, labels)
    axis.set_yticks(range(len(labels)), reversed(labels))
    axis.grid(axis="y", visible=False)


def logarithmic(axis: Axis) -> None:
    """A logarithmic axis with few plain numbers, however narrow."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    name: str = axis.axis_name  # type: ignore[attr-defined]
    axis.axes.set(**{f"{name}scale": "log"})
    axis.set_major_locator(_few_on_log_axis(MOST_LABELS[name]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axis.set_minor_formatter(NullFormatter())


def _short(value: float) -> str:
    """A number, which is a power of ten if it would have an exponent."""
    plain = f"{value:.6g}"
    mantissa, has_exponent, exponent = plain.partition("e")
    if not has_exponent:
        return plain
    factor = "" if mantissa == "1" else rf"{mantissa} \cdot "
    return f"${factor}10^{{{int(exponent)}}}$"


def _few_on_log_axis(most: int) -> Locator:
    """Numbers that begin with 1, 2 or 5, powers of ten if these are many, round ones if few."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    round_numbers = MaxNLocator(most - 1, steps=[1, 2, 5, 10])

    class Few(LogLocator):
        def tick_values(self, vmin: float, vmax: float) -> np.ndarray:
            low, high = math.floor(math.log10(vmin)), math.ceil(math.log10(vmax))
            powers = 10.0 ** np.arange(low, high + 1)
            fine = np.outer(powers, [1, 2, 5]).ravel()
            by_step = [powers[::step] for step in range(1, len(powers))]
            candidates = (fine, *by_step)
            few = _first_of(candidates, (vmin, vmax), range(2, most + 1))
            if few is None:
                return np.asarray(round_numbers.tick_values(vmin, vmax))
            return few

    return Few()


def _first_of(
    candidates: Iterable[np.ndarray],
    limits: tuple[float, float],
    counts: range,
) -> np.ndarray | None:
    """Ticks between the limits: of the first candidate that has so many there."""
    low, high = limits
    for ticks in candidates:
        seen = ticks[(ticks >= low) & (ticks <= high)]
        if len(seen) in counts:
            return seen
    return None


def symmetric_logarithmic(axis: Axes, linear: float) -> None:
    """An x axis of both signs with few plain numbers: linear up to `linear`, then logarithmic."""
    from matplotlib.ticker import SymmetricalLogLocator

    class Few(SymmetricalLogLocator):
        def tick_values(self, vmin: float, vmax: float) -> np.ndarray:
            largest = max(abs(vmin), abs(vmax), linear)
            decades = math.ceil(math.log10(largest / linear))
            powers = linear * 10.0 ** np.arange(decades + 1)
            by_step = []
            for step in range(1, len(powers) + 1):
                positive = powers[::step]
                negative = -positive[::-1]
                by_step.append(np.concatenate([negative, [0], positive]))
            few = _first_of(by_step, (vmin, vmax), range(MOST_LABELS["x"] + 1))
            assert few is not None, "the last candidate has three ticks"
            return few

    axis.set_xscale("symlog", linthresh=linear)
    axis.xaxis.set_major_locator(Few(base=10, linthresh=linear))
    axis.xaxis.set_major_formatter("{x:,g}")


def from_all_to_few(axis: Axes, percent: pd.Series) -> None:
    """A logarithmic x axis of shares of the rows, from all of them at the left."""
    shares = sorted(set(percent))
    axis.set_xscale("log")
    axis.set_xticks(shares, [f"{share:.3g}" for share in shares])
    axis.xaxis.set_minor_formatter("")
    axis.invert_xaxis()


def heights(labels: Sequence[str]) -> range:
    """Vertical position of every label, the first on top."""
    return range(len(labels) - 1, -1, -1)


def fit_lines(axis: Axes, labels: Sequence[str]) -> None:
    """Limits of a vertical axis with a line for every label."""
    axis.set_ylim(-0.6, len(labels) - 0.4)


def legend_below(figure: Figure, axis: Axes, columns: int) -> None:
    """A legend of an axis's lines below all panels."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
    )


def zero_line(axis: Axes, at: float = 0) -> None:
    """A dotted line at no change."""
    axis.axvline(at, color="0.3", linewidth=0.8, linestyle=":")


def method_styles(titles: list[str]) -> dict[str, tuple[str, str]]:
    """Color and marker of each method; each NPT has its own in all figures."""
    styles: dict[str, tuple[str, str]] = {}
    others = 0
    for title in dict.fromkeys(titles):
        npt = npt_of_title(title)
        if npt and NPT_STYLES[npt] not in styles.values():
            styles[title] = NPT_STYLES[npt]
            continue
        cycle = others // len(COLORS)
        color = COLORS[others % len(COLORS)]
        styles[title] = (color, MARKERS[(others + cycle) % len(MARKERS)])
        others += 1
    return styles
