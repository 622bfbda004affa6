"""A figure inside the page: an SVG whose text is text, in the colours of the page."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup, escape

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
ROOT = re.compile(r"<svg [^>]*(viewBox=\"[^\"]+\")[^>]*>")
# What matplotlib writes before the drawing; its style would hold for the whole page.
PREAMBLE = re.compile(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", re.DOTALL)


def inline_svg(path: Path, prefix: str, description: str) -> Markup:
    """The drawing of a file as an element of a page.

    Args:
        prefix: Of all identifiers, which keeps the figures of a page apart.
        description: What it shows, for those who do not see it.
    """
    content = path.read_text(encoding="utf-8")
    root = ROOT.search(content)
    assert root is not None, path
    drawing = PREAMBLE.sub("", content[root.end() :])
    drawing = re.sub(r'\bid="', f'id="{prefix}-', drawing)
    drawing = re.sub(r'href="#', f'href="#{prefix}-', drawing)
    drawing = drawing.replace("url(#", f"url(#{prefix}-")
    for color, page_color in PAGE_COLORS.items():
        drawing = drawing.replace(color, page_color)
    namespace = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    label = f'role="img" aria-label="{escape(description)}"'
    return Markup(f"<svg {namespace} {root.group(1)} {label}>{drawing}")
