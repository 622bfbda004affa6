"""Figures inside the page."""

from pathlib import Path
from xml.etree import ElementTree

from workflow.presentation.drawing import panels
from workflow.report.svg import inline_svg


def test_drawing_has_text_colors_of_the_page_and_references_of_its_own(tmp_path: Path) -> None:
    figure, (axis,) = panels(1, 3)
    axis.plot([1, 2], [3, 4], "o")
    axis.set_title("Title <of> it")
    path = tmp_path / "figure.svg"
    figure.savefig(path)
    text = str(inline_svg(path, "other", 'Errors of "both" < 2'))
    root = ElementTree.fromstring(text.replace("<svg ", '<svg xmlns="s" ', 1))
    assert root.attrib["aria-label"] == 'Errors of "both" < 2'
    texts = ["".join(element.itertext()).strip() for element in root.iter("{s}text")]
    assert "Title <of> it" in texts
    assert "var(--paper)" in text
    assert "#ffffff" not in text
    assert "<style" not in text  # it would hold for the whole page
    for reference in ('id="other-axes_1"', 'href="#other-', "url(#other-"):
        assert reference in text
    assert text.count('href="#') == text.count('href="#other-')
