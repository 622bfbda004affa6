"""A section of a table as HTML, Markdown and LaTeX, written by pandas."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from markupsafe import Markup, escape

from workflow.presentation.cells import Cell
from workflow.presentation.sections import Section

WITHOUT_CODE = str.maketrans({"`": "", "\n": " "})
LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "|": "$|$",
        "−": "$-$",
        "±": r"$\pm$",
        "†": r"$\dagger$",
        "×": r"$\times$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "–": "--",
    }
)


def html_table(section: Section) -> Markup:
    """The cells as an element of a page."""
    frame = _texts(section, escape, "<strong>{}</strong>", "<em>{}</em>")
    with pd.option_context("display.max_colwidth", None):
        table = frame.to_html(index=False, escape=False, border=0)
    return Markup("<div class='wide'>{}</div>").format(Markup(table))


def html_note(text: str) -> Markup:
    """A note, in which names between ` are set as code."""
    parts = [escape(part) for part in text.replace("\\*", "*").split("`")]
    parts[1::2] = [Markup("<code>{}</code>").format(name) for name in parts[1::2]]
    return Markup("").join(parts)


def markdown_table(section: Section) -> str:
    """The cells between bars."""
    frame = _texts(section, _one_line, "**{}**", "*{}*")
    return frame.to_markdown(index=False, disable_numparse=True)


def latex_table(section: Section, label: str) -> str:
    """A `table` environment, which needs the package `booktabs`."""
    frame = _texts(section, _latex, r"\textbf{{{}}}", r"\textit{{{}}}")
    return frame.to_latex(index=False, caption=_latex(section.title), label=label, position="ht")


def _texts(section: Section, escaped: Callable[[str], str], bold: str, italic: str) -> pd.DataFrame:
    """Texts of the cells by column, in a format.

    Args:
        bold: Pattern of a text that stands out.
        italic: Pattern of a text that belongs to it.
    """

    def written(cell: Cell) -> str:
        text = str(escaped(cell.text))
        if cell.bold:
            return bold.format(text)
        return italic.format(text) if cell.italic else text

    columns = {}
    for title, cells in section.columns.items():
        columns[str(escaped(title))] = [written(cell) for cell in cells]
    return pd.DataFrame(columns)


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _latex(text: str) -> str:
    return text.translate(WITHOUT_CODE).translate(LATEX)
