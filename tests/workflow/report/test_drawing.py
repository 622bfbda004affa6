from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.workflow.report.toy import SCORING, benchmark_study
from workflow.report.drawing import (
    NPT_COLOR,
    PAGE,
    facets,
    logarithmic,
    method_styles,
    panels,
    points,
)
from workflow.report.files import write_figures, write_tables
from workflow.studies import kinds

BENCHMARK = kinds()["benchmark"]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def test_npt_has_its_style_and_no_two_methods_share_one() -> None:
    others = [f"m{number}" for number in range(20)]
    frame = pd.DataFrame({"title": [*others, "NPT", "NPT (b)"], "method": [*others, "npt", "npt"]})
    styles = method_styles(frame)
    assert styles["NPT"] == (NPT_COLOR, "D")
    assert len(set(styles.values())) == 22


@pytest.mark.parametrize("count", [1, 2, 4])
def test_panels_fill_a_page(count: int) -> None:
    figure, axes = panels(count, 3, columns=3)
    assert figure.get_figwidth() == PAGE
    assert len(axes) == count
    figure.draw_without_rendering()
    assert len({round(axis.get_position().x0, 2) for axis in axes}) == min(2, count)


def test_a_figure_without_panels_says_so() -> None:
    figure, _ = facets(pd.DataFrame(columns=["dataset"]), "dataset")
    assert figure.axes[0].get_title() == "No result"


def test_missing_mean_is_marked() -> None:
    _, (axis,) = panels(1, 2)
    frame = pd.DataFrame(
        {
            "title": ["NPT", "k-NN"],
            "method": ["npt", "knn"],
            "mean": [1.0, None],
            "error": [0.1, None],
        }
    )
    points(axis, frame, "mean", "error")
    assert [text.get_text() for text in axis.texts] == ["no result"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["NPT", "k-NN"]
    top, bottom = axis.transData.transform([(1, 0), (1, 1)])
    assert top[1] > bottom[1]


def test_files_have_the_same_bytes_for_the_same_rows(tmp_path: Path) -> None:
    contents = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        write_tables("main", BENCHMARK, benchmark_study(), SCORING, folder)
        write_figures("main", BENCHMARK, benchmark_study(), SCORING, folder)
        contents.append({path.name: path.read_bytes() for path in (folder / "main").iterdir()})
    assert contents[0] == contents[1]
    assert len(contents[0]) == 2 * len(BENCHMARK.view.tables) + 3 * len(BENCHMARK.view.figures)


@pytest.mark.parametrize("ratio", [1.02, 1.1, 2, 30, 3000, 1e36])
@pytest.mark.parametrize("low", [0.0012, 0.97, 5787])
def test_labels_of_a_logarithmic_axis_do_not_overlap(low: float, ratio: float) -> None:
    """Of the narrowest panel, three of which fill a page."""
    figure, axes = panels(3, 6, columns=3)
    axes[0].plot([low, low * ratio], [0, 1])
    logarithmic(axes[0].xaxis)
    assert len(separate_labels(figure, axes[0])) >= 2


def separate_labels(figure: Figure, axis: Axes) -> list[str]:
    """Labels inside the x axis, none of which touches another."""
    figure.draw_without_rendering()
    left, right = axis.get_xlim()
    shown = []
    for label in axis.get_xticklabels():
        if left <= label.get_position()[0] <= right:
            shown.append((label.get_window_extent(), label.get_text()))
    shown.sort(key=lambda pair: pair[0].x0)
    for (one, _), (other, _) in itertools.pairwise(shown):
        assert one.x1 < other.x0
    return [text for _, text in shown]
