"""Tables as LaTeX for a paper, with booktabs."""

from __future__ import annotations

import unicodedata

from workflow.report.cells import Cell
from workflow.report.sections import Section, Table

PREAMBLE = (
    "% Needs \\usepackage{booktabs} and \\usepackage{graphicx}; "
    "a table wider than the line is made smaller.\n"
)
ENVIRONMENT = r"""\begin{table}[ht]
\centering
\caption{%(caption)s}
\label{%(label)s}
\small
\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%%
\begin{tabular}{%(alignment)s}
\toprule
%(head)s
\midrule
%(body)s
\bottomrule
\end{tabular}}
%(notes)s\end{table}
"""
SYMBOLS = {
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
    "≈": r"$\approx$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
    "—": "---",
    "σ": r"$\sigma$",
    "…": r"\dots{}",
    "’": "'",
    "“": "``",
    "”": "''",
}
SPECIAL = str.maketrans({**{character: f"\\{character}" for character in "&%$#_{}"}, **SYMBOLS})


def latex(table: Table, name: str, preset: str) -> str:
    """All sections of a table as `table` environments, labelled `tab:` with `name` and a number."""
    parts = [f"{PREAMBLE}% Configuration: {' '.join(preset.split())}\n"]
    for number, section in enumerate(table.sections, 1):
        parts.append(_environment(section, f"tab:{name}-{number}"))
    return "\n".join(parts)


def escaped(text: str) -> str:
    """Text for LaTeX, in which names between ` are set in typewriter."""
    text = " ".join(text.replace("\\*", "*").split())
    parts = [_readable(part).translate(SPECIAL) for part in text.split("`")]
    if parts[0].startswith(("[", "*")):
        parts[0] = "{}" + parts[0]  # LaTeX takes these for an option after the end of a row
    parts[1::2] = [rf"\texttt{{{name}}}" for name in parts[1::2]]
    return "".join(parts)


def _environment(section: Section, label: str) -> str:
    alignment = ""
    for cells in section.columns.values():
        alignment += "r" if all(cell.is_number for cell in cells) else "l"
    rows = []
    for cells in section.rows:
        rows.append(_row([_latex_cell(cell) for cell in cells]))
    return ENVIRONMENT % {
        "caption": escaped(section.title),
        "label": label,
        "alignment": alignment,
        "head": _row([escaped(title) for title in section.columns]),
        "body": "\n".join(rows),
        "notes": "".join(map(_note, section.notes)),
    }


def _row(cells: list[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _latex_cell(cell: Cell) -> str:
    text = escaped(cell.text)
    if cell.bold:
        return rf"\textbf{{{text}}}"
    return rf"\textit{{{text}}}" if cell.italic else text


def _note(text: str) -> str:
    return f"\\par\\smallskip\n{{\\raggedright\\footnotesize {escaped(text)}\\par}}\n"


def _readable(text: str) -> str:
    """Text in characters that LaTeX has; others lose their accents or become question marks."""
    return "".join(_plain(character) for character in text if character.isprintable())


def _plain(character: str) -> str:
    if character.isascii() or ord(character) in SPECIAL:
        return character
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"
