"""Tables as HTML whose columns sort at a click, and the templates of all pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
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


def html_table(section: Section, rows_of_runs: Mapping[str, str] | None = None) -> Markup:
    """The cells of a section; the columns of tables with more than two rows sort at a click.

    Args:
        rows_of_runs: Path from the page to a file with rows of a run, by its key.
    """
    columns = section.columns.values()
    numeric = [all(cell.is_number for cell in cells) for cells in columns]
    sortable = len(section.rows) > 2
    head = Markup("")
    for (title, cells), is_numeric in zip(section.columns.items(), numeric, strict=True):
        unit = max(cell.unit for cell in cells) if cells else ""
        head += _head(title, is_numeric, sortable, unit)
    body = Markup("")
    for row in section.rows:
        body += _row(row, numeric, rows_of_runs or {})
    return Markup(
        "<div class='wide' role='region' tabindex='0' aria-label='{}'>"
        "<table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(section.title, section.title, head, body)


def html_note(text: str) -> Markup:
    """A note, in which names between ` are set as code."""
    parts = [escape(part) for part in text.replace("\\*", "*").split("`")]
    parts[1::2] = [Markup("<code>{}</code>").format(name) for name in parts[1::2]]
    return Markup("").join(parts)


def _head(title: str, numeric: bool, sortable: bool, unit: str) -> Markup:
    attributes = Markup("")
    if numeric:
        attributes = Markup(" class='number'")
    if numeric and unit and unit not in title.split():
        attributes += Markup(" data-unit='{}'").format(unit)
    for unit in ("↑", "↓", "%"):
        title = title.replace(f" {unit}", f"\N{NO-BREAK SPACE}{unit}")
    label = escape(title)
    if sortable:
        label = Markup("<button type='button'>{}</button>").format(title)
    return Markup("<th scope='col'{}>{}</th>").format(attributes, label)


def _row(
    cells: tuple[Cell, ...],
    numeric: list[bool],
    rows_of_runs: Mapping[str, str],
) -> Markup:
    row = Markup("")
    for place, (cell, is_numeric) in enumerate(zip(cells, numeric, strict=True)):
        is_head = place == 0 and not is_numeric
        row += _cell(cell, is_numeric, is_head, rows_of_runs)
    return Markup("<tr>{}</tr>").format(row)


def _cell(
    cell: Cell,
    numeric: bool,
    is_head: bool,
    rows_of_runs: Mapping[str, str],
) -> Markup:
    """A cell of the body; `is_head` makes it the head of its row."""
    attributes = Markup("")
    if numeric:
        css_class = "number tied" if cell.italic else "number"
        key = _key(cell.value)
        attributes = Markup(" class='{}' data-key='{}'").format(css_class, key)
        if _key(cell.second):
            attributes += Markup(" data-second='{}'").format(_key(cell.second))
    text = escape(cell.text)
    if cell.bold:
        text = Markup("<strong>{}</strong>").format(text)
    file = rows_of_runs.get(cell.run_key)
    if file:
        link = "<a class='raw' href='{}' title='Rows of this run'>{}</a>"
        text = Markup(link).format(file, text)
    if is_head:
        return Markup("<th scope='row'>{}</th>").format(text)
    return Markup("<td{}>{}</td>").format(attributes, text)


def _key(value: float | None) -> str:
    """A number by which rows are sorted; empty for a missing one, which comes last."""
    return "" if value is None or math.isnan(value) else f"{value:.10g}"
