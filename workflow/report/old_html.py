"""Tables as HTML that sorts, and the templates of all pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from workflow.report.section import DASH, Tabulated, is_number, sort_key, unbolded

TEMPLATES = Path(__file__).with_name("templates")


def rendered(template: str, **values: Any) -> str:
    """A template with its values; everything in them that is not Markup is escaped."""
    loader, escaping = FileSystemLoader(TEMPLATES), select_autoescape(["html", "j2"])
    environment = Environment(
        loader=loader, autoescape=escaping, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= {"table": html_table, "note": html_note}
    return environment.get_template(template).render(**values)


def html(table: Tabulated, title: str, preset: str) -> str:
    """All sections of a table as a page of its own."""
    return rendered("old_table.html.j2", title=title, preset=preset, sections=table.sections)


def html_table(rows: pd.DataFrame | list[dict[str, str]], label: str = "") -> Markup:
    """A table whose columns sort at a click on their heads; text between ** is bold. `label` names it for screen readers."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    numeric = [all(is_number(str(cell)) or cell == DASH for cell in frame[name]) for name in frame]
    sorts = len(frame) > 2
    head = Markup("").join(
        _head(str(name), number, sorts) for name, number in zip(frame.columns, numeric, strict=True)
    )
    body = Markup("").join(
        _row([str(cell) for cell in row], numeric) for row in frame.itertuples(index=False)
    )
    named = Markup(" role='region' tabindex='0' aria-label='{}'").format(label) if label else ""
    table = Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)
    return Markup("<div class='wide'{}>{}</div>").format(named, table)


def html_note(text: str) -> Markup:
    """A table's note, in which `names` are set as code."""
    parts = text.replace("\\*", "*").split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else escape(part)
        for i, part in enumerate(parts)
    )


def _head(name: str, number: bool, sorts: bool) -> Markup:
    kind = Markup(" class='number'") if number else Markup("")
    if not sorts:
        return Markup("<th scope='col'{}>{}</th>").format(kind, name)
    return Markup("<th scope='col'{}><button type='button'>{}</button></th>").format(kind, name)


def _row(cells: list[str], numeric: list[bool]) -> Markup:
    shown = []
    for cell, number in zip(cells, numeric, strict=True):
        key = "" if cell == DASH or not number else f"{sort_key(cell):g}"
        kind = Markup(" class='number' data-key='{}'").format(key) if number else ""
        shown.append(Markup("<td{}>{}</td>").format(kind, _bold(cell)))
    return Markup("<tr>{}</tr>").format(Markup("").join(shown))


def _bold(text: str) -> Markup:
    plain, marked = unbolded(text)
    return Markup("<strong>{}</strong>").format(plain) if marked else escape(plain)
