"""A figure inside the page: an SVG whose text is text, in the colours of the page.

On a narrow screen its panels stand below each other. Each is then a window on the same drawing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALE = 1.4  # CSS pixels of a point, so that text of 7 points can be read on a screen
POINTS = 72  # of an inch
PAD = 2  # points around a panel
COLOR_BAR = "<colorbar>"  # matplotlib's label of the axes of one
# Inks and papers of the figures' style, and what stands for them on a page that may be dark.
PAGE_COLORS = {
    "#000000": "currentColor",
    "#333333": "currentColor",
    "#4c4c4c": "currentColor",
    "#666666": "currentColor",
    "#0072b2": "var(--mark)",
    "#8c1c13": "var(--solved)",
    "#ffffff": "var(--paper)",
    "#e0e0e0": "var(--line)",
    "#d9d9d9": "var(--line)",
}
ROOT = re.compile(r"<svg [^>]*viewBox=\"0 0 ([0-9.]+) ([0-9.]+)\"[^>]*>")
BOXES = re.compile(r"<dc:description>panels ([-0-9., ]+)</dc:description>")
# What matplotlib writes before the drawing; its style would hold for the whole page.
PREAMBLE = re.compile(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", re.DOTALL)


def panel_boxes(figure: Figure) -> str | None:
    """Left, top, width and height in points of each panel and legend, for the file's metadata.

    None for a single panel, and where panels share their labels, which stand beside one of them.
    """
    panels = []
    for axis in figure.axes:
        shares_labels = len(axis.get_shared_y_axes().get_siblings(axis)) > 1
        if shares_labels:
            return None
        if axis.get_visible() and axis.get_label() != COLOR_BAR:
            panels.append(axis)
    if len(panels) < 2:
        return None
    scale = POINTS / figure.dpi
    height = POINTS * figure.get_figheight()
    boxes = []
    for part in (*panels, *figure.legends):
        box = part.get_tightbbox()
        if box is None:
            continue
        left = scale * box.x0 - PAD
        top = height - scale * box.y1 - PAD
        numbers = (
            left,
            top,
            scale * box.width + 2 * PAD,
            scale * box.height + 2 * PAD,
        )
        boxes.append(" ".join(f"{number:.1f}" for number in numbers))
    return f"panels {', '.join(boxes)}"


def inline_svg(path: Path, prefix: str, description: str) -> Markup:
    """The drawing of a file as an element of a page, and its panels one by one.

    Args:
        prefix: Of all identifiers, which keeps the figures of a page apart.
        description: What it shows, for those who do not see it.
    """
    content = path.read_text(encoding="utf-8")
    root = ROOT.search(content)
    assert root is not None, path
    width, height = (float(size) for size in root.groups())
    label = f'role="img" aria-label="{escape(description)}"'
    whole = _window(f"0 0 {width:g} {height:g}", f'class="whole" {label}')
    drawn = _of_page(content[root.end() :], prefix)
    drawing = Markup(whole + drawn)
    boxes = BOXES.search(content)
    if boxes is None:
        return drawing
    panels = Markup("")
    for box in boxes.group(1).split(", "):
        window = _window(box, 'aria-hidden="true"')
        panels += Markup(f'{window}<use href="#{prefix}-figure_1"/></svg>')
    return drawing + Markup("<div class='panels'>{}</div>").format(panels)


def _window(box: str, attributes: str) -> str:
    """The opening tag of an SVG that shows a box of left, top, width and height in points."""
    width, height = (SCALE * float(size) for size in box.split()[2:])
    return (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{box}" width="{width:.0f}" '
        f'height="{height:.0f}" {attributes}>'
    )


def _of_page(drawing: str, prefix: str) -> str:
    """The drawing with identifiers of its own and the colours of the page."""
    drawing = PREAMBLE.sub("", drawing)
    drawing = re.sub(r'\bid="', f'id="{prefix}-', drawing)
    drawing = re.sub(r'href="#', f'href="#{prefix}-', drawing)
    drawing = drawing.replace("url(#", f"url(#{prefix}-")
    for color, of_page in PAGE_COLORS.items():
        drawing = drawing.replace(color, of_page)
    return drawing
