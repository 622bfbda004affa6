import itertools

import pandas as pd
import pytest

from workflow.presentation.drawing import (
    NPT_COLOR,
    PAGE,
    facets,
    logarithmic,
    method_styles,
    panels,
    points,
)


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
    names = {"title": ["NPT", "k-NN"], "method": ["npt", "knn"]}
    frame = pd.DataFrame({**names, "mean": [1.0, None], "error": [0.1, None]})
    points(axis, frame, "mean", "error")
    assert [text.get_text() for text in axis.texts] == ["no result"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["NPT", "k-NN"]
    top, bottom = axis.transData.transform([(1, 0), (1, 1)])
    assert top[1] > bottom[1]


@pytest.mark.parametrize("ratio", [1.02, 1.1, 2, 30, 3000, 1e36])
@pytest.mark.parametrize(("low", "inverted"), [(0.0012, False), (0.97, True), (5787, False)])
def test_labels_of_a_logarithmic_axis_do_not_overlap(
    low: float, inverted: bool, ratio: float
) -> None:
    """Of the narrowest panel, three of which fill a page."""
    figure, (axis, *_) = panels(3, 6, columns=3)
    axis.plot([low, low * ratio], [0, 1])
    if inverted:
        axis.invert_xaxis()
    logarithmic(axis.xaxis)
    figure.draw_without_rendering()
    left, right = sorted(axis.get_xlim())
    extents = []
    for label in axis.get_xticklabels():
        if left <= label.get_position()[0] <= right:
            extents.append(label.get_window_extent())
    extents.sort(key=lambda extent: extent.x0)
    assert len(extents) >= 2
    for first, second in itertools.pairwise(extents):
        assert first.x1 < second.x0
