"""Figures inside the page."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest

from workflow.report.drawing import panels
from workflow.report.svg import inline_svg, panel_boxes


def drawing(tmp_path: Path, prefix: str = "main") -> str:
    figure, (axis,) = panels(1, 3)
    axis.plot([1, 2], [3, 4], "o")
    axis.set_title("Title <of> it")
    path = tmp_path / "figure.svg"
    figure.savefig(path)
    plt.close(figure)
    return str(inline_svg(path, prefix, 'Errors of "both" < 2'))


def test_drawing_is_an_element_with_a_description_and_text(tmp_path: Path) -> None:
    root = ElementTree.fromstring(drawing(tmp_path).replace("<svg ", '<svg xmlns="s" ', 1))
    assert root.attrib["aria-label"] == 'Errors of "both" < 2'
    texts = ["".join(element.itertext()).strip() for element in root.iter("{s}text")]
    assert "Title <of> it" in texts


def test_colors_are_those_of_the_page(tmp_path: Path) -> None:
    text = drawing(tmp_path)
    assert "var(--paper)" in text
    assert "currentColor" in text
    assert "#ffffff" not in text
    assert "<style" not in text  # it would hold for the whole page
    assert "#d55e00" in text


def test_references_stay_within_the_figure(tmp_path: Path) -> None:
    text = drawing(tmp_path, "other")
    assert 'id="other-axes_1"' in text
    assert 'href="#other-' in text
    assert "url(#other-" in text
    assert text.count('href="#') == text.count('href="#other-')


def test_panels_are_windows_on_the_drawing(tmp_path: Path) -> None:
    figure, axes = panels(2, 5)
    for axis in axes:
        axis.set_title("Panel")
    figure.draw_without_rendering()
    path = tmp_path / "figure.svg"
    figure.savefig(path, metadata={"Description": panel_boxes(figure)})
    width, height = 72 * figure.get_size_inches()
    plt.close(figure)
    text = str(inline_svg(path, "two", "Two panels"))
    assert text.count('<use href="#two-figure_1"/>') == 2
    boxes = [tuple(map(float, box.split())) for box in re.findall(r'viewBox="([^"]+)"', text)]
    whole, left, right = boxes
    assert whole == (0, 0, pytest.approx(width), pytest.approx(height))
    assert left[0] < left[0] + left[2] <= right[0] + 5 < width
    for box in (left, right):
        assert 0.3 * width < box[2] < 0.55 * width
        assert 0.7 * height < box[3] <= 1.1 * height


def test_panels_that_share_labels_stay_together() -> None:
    figure, _ = panels(2, 5, same_rows=True)
    assert panel_boxes(figure) is None
    plt.close(figure)


def test_a_single_panel_has_no_windows(tmp_path: Path) -> None:
    assert "panels" not in drawing(tmp_path)
