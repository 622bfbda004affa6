"""Tables as HTML whose columns sort at a click, and the templates of all pages."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from workflow.report.cells import Cell
from workflow.report.sections import Section, Table

TEMPLATES = Path(__file__).with_name("templates")


def rendered(template: str, **values: Any) -> str:
    """A template with its values; everything in them that is not `Markup` is escaped."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(["html", "j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {"table": html_table, "note": html_note}
    return environment.get_template(template).render(**values)


def html(table: Table, title: str, preset: str) -> str:
    """All sections of a table as a page of its own."""
    return rendered("table.html.j2", title=title, preset=preset, sections=table.sections)


def html_table(section: Section, results: str = "..") -> Markup:
    """The cells of a section; the columns of tables with more than two rows sort at a click.

    Args:
        results: Path from the page to the results, for the links of cells.
    """
    columns = section.columns.values()
    numeric = [all(cell.is_number for cell in cells) for cells in columns]
    sortable = len(section.rows) > 2
    head = Markup("")
    for title, is_numeric in zip(section.columns, numeric, strict=True):
        head += _head(title, is_numeric, sortable)
    body = Markup("")
    for row in section.rows:
        body += _row(row, numeric, results)
    return Markup(
        "<div class='wide' role='region' tabindex='0' aria-label='{}'>"
        "<table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(section.title, section.title, head, body)


def html_note(text: str) -> Markup:
    """A note, in which names between ` are set as code."""
    parts = [escape(part) for part in text.replace("\\*", "*").split("`")]
    parts[1::2] = [Markup("<code>{}</code>").format(name) for name in parts[1::2]]
    return Markup("").join(parts)


def _head(title: str, numeric: bool, sortable: bool) -> Markup:
    css_class = Markup("")
    if numeric:
        css_class = Markup(" class='number'")
    for unit in ("↑", "↓", "%"):
        title = title.replace(f" {unit}", f"\N{NO-BREAK SPACE}{unit}")
    label = escape(title)
    if sortable:
        label = Markup("<button type='button'>{}</button>").format(title)
    return Markup("<th scope='col'{}>{}</th>").format(css_class, label)


def _row(
    cells: tuple[Cell, ...],
    numeric: list[bool],
    results: str,
) -> Markup:
    row = Markup("")
    for place, (cell, is_numeric) in enumerate(zip(cells, numeric, strict=True)):
        is_head = place == 0 and not is_numeric
        row += _cell(cell, is_numeric, is_head, results)
    return Markup("<tr>{}</tr>").format(row)


def _cell(
    cell: Cell,
    numeric: bool,
    is_head: bool,
    results: str,
) -> Markup:
    """A cell of the body; `is_head` makes it the head of its row."""
    attributes = Markup("")
    if numeric:
        css_class = "number tied" if cell.italic else "number"
        key = _sort_key(cell)
        attributes = Markup(" class='{}' data-key='{}'").format(css_class, key)
    text = escape(cell.text)
    if cell.bold:
        text = Markup("<strong>{}</strong>").format(text)
    if cell.link:
        link = f"{results}/{cell.link}"
        text = Markup("<a class='raw' href='{}'>{}</a>").format(link, text)
    if is_head:
        return Markup("<th scope='row'>{}</th>").format(text)
    return Markup("<td{}>{}</td>").format(attributes, text)


def _sort_key(cell: Cell) -> str:
    """The cell's value; empty for a missing one, which comes last in either order."""
    if cell.value is None or math.isnan(cell.value):
        return ""
    return f"{cell.value:.10g}"
