"""Tables as Markdown."""

from __future__ import annotations

import pandas as pd

from workflow.report.cells import Cell
from workflow.report.sections import Section, Table


def markdown(table: Table, preset: str) -> str:
    """All sections of a table with their notes."""
    parts = [f"Configuration: {preset}\n"]
    for section in table.sections:
        parts.append(f"### {section.title}\n\n{markdown_table(section)}\n")
        parts += [f"{_one_line(note)}\n" for note in section.notes]
    return "\n".join(parts)


def markdown_table(section: Section) -> str:
    """The cells of a section."""
    columns = {}
    for title, cells in section.columns.items():
        columns[title] = [_markdown_cell(cell) for cell in cells]
    return pd.DataFrame(columns).to_markdown(index=False, disable_numparse=True)


def _markdown_cell(cell: Cell) -> str:
    text = _one_line(cell.text).replace("|", "\\|")
    if cell.bold:
        return f"**{text}**"
    return f"*{text}*" if cell.italic else text


def _one_line(text: str) -> str:
    return " ".join(text.split())
