"""Figures of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from npt.metrics import METRICS, Metric
from workflow.config.scoring import Scoring
from workflow.report.cells import counted, probability
from workflow.report.cost import cost as cost_table
from workflow.report.drawing import (
    NPT_STYLES,
    OTHER_COLOR,
    PAGE,
    heights,
    logarithmic,
    panels,
    points,
    pyplot,
)
from workflow.report.rank_tests import RankTests, rank_tests
from workflow.report.statistics import MODEL, fold_means, tasks_of, with_columns
from workflow.report.titles import (
    NPTS,
    TASK_TITLES,
    dataset_title,
    method_title,
    method_titles,
    npt_of_title,
)
from workflow.studies.benchmark.scores import scores
from workflow.studies.benchmark.tables import metrics as metrics_table
from workflow.studies.benchmark.tables import primary
from workflow.studies.benchmark.tables import ranks as ranks_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MARK = 7.0  # points that a mark takes
NAME_SIZE = 6.5
LEADER = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
LETTER = 0.6 * NAME_SIZE  # width of a letter in points
WIDE = 5.0  # ratio of means beyond which their axis is logarithmic


def ranks(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean rank of every method with its standard error, a panel per task."""
    tidy = ranks_table(study, scoring).tidy
    tasks = tasks_of(study)
    figure, axes = panels(len(tasks), tidy.groupby("task").size().max())
    for task, axis in zip(tasks, axes, strict=True):
        part = tidy[tidy["task"] == task]
        points(axis, method_titles(part), part["mean_rank"], part["standard_error"])
        metric = METRICS[scoring.metrics[task]].title
        over = counted(int(part["datasets"].max()), "dataset")
        axis.set_title(f"{TASK_TITLES[task]}\n{metric}, {over}")
        axis.set_xlabel("mean rank (1 is best)")
        axis.set_xlim(0.5, len(part) + 0.5)
    return figure


def metrics(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """The primary metric of every method: each fold, the mean, and its standard error.

    All panels have the methods in the order of the table of scores. The axis of errors that
    spread widely is logarithmic.
    """
    tidy = primary(metrics_table(study, scoring).tidy, scoring)
    (table,) = scores(study, scoring).sections
    order = [cell.text for cell in table.columns["Method"]]
    rows = fold_means(study)
    rows = rows[rows["status"] == "ok"]
    datasets = list(tidy["dataset"].unique())
    most = tidy.groupby("dataset").size().max()
    figure, axes = panels(len(datasets), most, columns=3, same_rows=True)
    for dataset, axis in zip(datasets, axes, strict=True):
        part = tidy[tidy["dataset"] == dataset]
        part = part.assign(title=method_titles(part)).set_index("title").loc[order]
        metric = METRICS[part["metric"].iloc[0]]
        _draw_folds(axis, rows[rows["dataset"] == dataset], metric, order)
        points(axis, order, part["mean"], part["standard_error"])
        means = part["mean"]
        if not metric.higher_is_better and means.max() > WIDE * means.min() > 0:
            logarithmic(axis.xaxis)
        axis.set(title=dataset_title(dataset), xlabel=f"test {metric.title}\n({_better(metric)})")
    return figure


def _draw_folds(
    axis: Axes,
    folds: pd.DataFrame,
    metric: Metric,
    labels: list[str],
) -> None:
    """A grey circle per fold at the height of its method's label."""
    height_of = dict(zip(labels, heights(labels), strict=True))
    column = f"test_{metric.name}"
    values = with_columns(folds, [column])[column]
    positions = [height_of[title] for title in method_titles(folds)]
    axis.plot(
        values,
        positions,
        "o",
        color="0.55",
        markerfacecolor="none",
        markersize=4,
        zorder=3,
    )


def critical_difference(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean ranks over all datasets; a bar joins methods that Nemenyi's test does not separate.

    The diagram is that of Demšar 2006.
    """
    tests = rank_tests(study, scoring)
    if tests.ranks.empty:
        figure, axis = pyplot().subplots(figsize=(PAGE, 0.5), layout="constrained")
        axis.set_axis_off()
        axis.set_title("No dataset has all its results yet")
        return figure
    titles = [method_title(*name) for name in tests.order]
    height = 0.9 + 0.16 * len(titles)
    figure, axis = pyplot().subplots(figsize=(PAGE, height), layout="constrained")
    _draw_diagram(axis, tests, titles)
    over = counted(len(tests.ranks), "dataset")
    axis.set_title(f"Mean rank over {over} (1 is best)\n{_verdict(tests)}")
    return figure


def _draw_diagram(axis: Axes, tests: RankTests, titles: list[str]) -> None:
    from scikit_posthocs import critical_difference_diagram

    means = tests.ranks.mean()[tests.order]
    pairs = np.zeros((len(titles), len(titles)))
    if not tests.refusal:
        pairs = tests.pairs.loc[tests.order, tests.order].to_numpy()
    critical_difference_diagram(
        pd.Series(means.to_numpy(), titles),
        pd.DataFrame(pairs, titles, titles),
        ax=axis,
        label_fmt_left="{label} ({rank:.2f})",
        label_fmt_right="({rank:.2f}) {label}",
        color_palette={title: _color(title) for title in titles},
        text_h_margin=0.1,
        marker_props={"s": 14},
        crossbar_props={"color": "0.3", "linewidth": 2.5},
        elbow_props={"linewidth": 0.8},
    )
    axis.grid(visible=False)


def _color(title: str) -> str:
    npt = npt_of_title(title)
    return NPT_STYLES[npt][0] if npt else OTHER_COLOR


def _verdict(tests: RankTests) -> str:
    if tests.refusal:
        return tests.refusal
    verdict = "no two methods differ significantly"
    if tests.rejects:
        verdict = "a bar joins methods that Nemenyi's test does not separate"
    return f"Friedman's test: p = {probability(tests.p_value)}; {verdict}"


def cost(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """The primary metric against the seconds of search and training of a fold.

    A line joins the methods that no other beats in both. These and the NPTs are named.
    """
    scores = primary(metrics_table(study, scoring).tidy, scoring)
    costs = cost_table(study, scoring).tidy
    merged = scores.merge(costs, on=MODEL)
    merged = merged.assign(title=method_titles(merged))
    merged = merged.dropna(subset=["mean", "search_seconds"])
    datasets = list(scores["dataset"].unique())
    figure, axes = panels(max(1, len(datasets)), 11, columns=3)
    for dataset, axis in zip(datasets, axes, strict=False):
        part = merged[merged["dataset"] == dataset]
        if part.empty:
            axis.set_title(f"{dataset_title(dataset)}: no result")
            axis.set_axis_off()
            continue
        metric = METRICS[part["metric"].iloc[0]]
        _draw_costs(axis, part, metric)
        axis.set(title=dataset_title(dataset), xlabel="seconds per fold")
        logarithmic(axis.xaxis)
        axis.set_ylabel(f"test {metric.title}\n({_better(metric)})")
    figure.draw_without_rendering()
    for dataset, axis in zip(datasets, axes, strict=False):
        part = merged[merged["dataset"] == dataset]
        if len(part):
            metric = METRICS[part["metric"].iloc[0]]
            _name_marks(axis, part, on_front(part, metric))
    return figure


def _draw_costs(axis: Axes, part: pd.DataFrame, metric: Metric) -> None:
    """Marks with standard errors, the front, and names beside the marks."""
    front = on_front(part, metric)
    for row in part.to_dict("records"):
        npt = npt_of_title(row["title"])
        color, marker = NPT_STYLES[npt] if npt else (OTHER_COLOR, "s")
        is_named = npt is not None or row["title"] in front
        axis.errorbar(
            row["search_seconds"],
            row["mean"],
            yerr=None if pd.isna(row["standard_error"]) else row["standard_error"],
            fmt=marker,
            color=color if is_named else "0.6",
            markersize=4,
            capsize=2,
            zorder=3,
        )
    means = part["mean"]
    if not metric.higher_is_better and means.max() > WIDE * means.min() > 0:
        logarithmic(axis.yaxis)
    axis.margins(x=0.25, y=0.12)
    steps = part[part["title"].isin(front)].sort_values("search_seconds")
    axis.step(
        steps["search_seconds"],
        steps["mean"],
        where="post",
        color="0.6",
        linewidth=0.8,
        zorder=1,
    )


def on_front(part: pd.DataFrame, metric: Metric) -> list[str]:
    """Titles of the methods that no other method of the dataset beats in score and in seconds."""
    sign = -1 if metric.higher_is_better else 1
    front = []
    best = np.inf
    errors = part.assign(error=sign * part["mean"])
    by_seconds = errors.sort_values(["search_seconds", "error"])
    for row in by_seconds.to_dict("records"):
        if row["error"] < best:
            best = row["error"]
            front.append(row["title"])
    return front


def _name_marks(axis: Axes, part: pd.DataFrame, front: list[str]) -> None:
    """Names beside the marks of the front and of the NPTs, where they cover neither.

    The places depend on the layout, which must have been computed.
    """
    of_npts = part.loc[part["method"].isin(NPTS), "title"]
    named = {*front, *of_npts}
    points_per_pixel = 72 / axis.figure.dpi
    marks = axis.transData.transform(part[["search_seconds", "mean"]]) * points_per_pixel
    corners = axis.get_window_extent().get_points() * points_per_pixel
    taken = [Box.around(mark, MARK, MARK) for mark in marks]
    for row, mark in zip(part.to_dict("records"), marks, strict=True):
        if row["title"] not in named:
            continue
        name = row["title"].replace(" (tuned)", "")
        size = (LETTER * len(name), LETTER * 2)
        offset = _free_offset(mark, size, taken, corners)
        taken.append(Box.around(mark + offset, *size))
        axis.annotate(
            name,
            (row["search_seconds"], row["mean"]),
            xytext=tuple(offset),
            textcoords="offset points",
            ha="center",
            va="center",
            color=_color(row["title"]),
            fontsize=NAME_SIZE,
            zorder=2,
            arrowprops=LEADER,
        )


@dataclass(frozen=True)
class Box:
    """A rectangle in points."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def around(cls, centre: np.ndarray, width: float, height: float) -> Box:
        """The rectangle of a size around a point."""
        half = np.array([width, height]) / 2
        return cls(centre - half, centre + half)

    def overlaps(self, other: Box) -> bool:
        """Whether two rectangles have a point in common."""
        return bool((self.low < other.high).all() and (other.low < self.high).all())


def _free_offset(
    mark: np.ndarray,
    size: tuple[float, float],
    taken: list[Box],
    corners: np.ndarray,
) -> np.ndarray:
    """The nearest place for a name, above, below or beside its mark; the first if none is free."""
    beside = size[0] / 2 + MARK
    places = []
    for distance in (8, 14, 20, 26):
        further = distance - 8
        places += [
            (0, distance),
            (0, -distance),
            (beside, further),
            (-beside, further),
            (beside, -further),
            (-beside, -further),
        ]
    for place in places:
        box = Box.around(mark + place, *size)
        frame = Box(*corners)
        is_inside = (box.low > frame.low).all() and (box.high < frame.high).all()
        is_free = not any(box.overlaps(other) for other in taken)
        if is_inside and is_free:
            return np.array(place)
    return np.array(places[0])


def _better(metric: Metric) -> str:
    return "higher is better" if metric.higher_is_better else "lower is better"
