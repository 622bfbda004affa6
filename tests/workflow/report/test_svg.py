"""Figures inside the page."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt

from workflow.report.drawing import panels
from workflow.report.svg import inline_svg


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
