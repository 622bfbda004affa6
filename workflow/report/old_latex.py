"""Tables as LaTeX for a paper, with booktabs."""

from __future__ import annotations

import unicodedata

from workflow.report.section import DASH, Section, Tabulated, is_number, unbolded

PREAMBLE = "% Needs \\usepackage{booktabs} and \\usepackage{graphicx}; a table wider than the line is made smaller.\n"
SPECIAL = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$",
        "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "≈": r"$\approx$", "≤": r"$\leq$", "≥": r"$\geq$", "–": "--", "—": "---",
        "σ": r"$\sigma$", "…": r"\dots{}", "’": "'", "“": "``", "”": "''",
    }
)  # fmt: skip


def latex(table: Tabulated, name: str, preset: str) -> str:
    """All sections of a table as LaTeX `table` environments, whose labels are `tab:` with `name` and a number."""
    parts = [f"{PREAMBLE}% Configuration: {' '.join(preset.split())}\n"]
    for number, section in enumerate(table.sections, 1):
        parts.append(_environment(section, f"tab:{name}-{number}"))
    return "\n".join(parts)


def escaped(text: str) -> str:
    """Text for LaTeX; what stands between ** is bold and between ` typewriter."""
    text = " ".join(text.replace("\\*", "*").split())
    text, marked = unbolded(text)
    if marked:
        return rf"\textbf{{{escaped(text)}}}"
    parts = [_readable(part).translate(SPECIAL) for part in text.split("`")]
    if parts[0].startswith(("[", "*")):
        parts[0] = "{}" + parts[0]  # after the end of a row LaTeX would take it for an option
    return "".join(rf"\texttt{{{part}}}" if place % 2 else part for place, part in enumerate(parts))


def _readable(text: str) -> str:
    """Text in characters that LaTeX has without further packages: others lose their accents, or become question marks."""
    return "".join(_plain(character) for character in text if character.isprintable())


def _plain(character: str) -> str:
    if character.isascii() or ord(character) in SPECIAL:
        return character
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"


def _environment(section: Section, label: str) -> str:
    cells = section.cells
    kinds = "".join(
        "r" if all(is_number(cell) or cell == DASH for cell in cells[name]) else "l"
        for name in cells
    )
    shown = cells.map(lambda cell: escaped(str(cell))).rename(columns=escaped)
    tabular = shown.style.hide(axis="index").to_latex(hrules=True, column_format=kinds).rstrip()
    notes = "".join(
        f"\\par\\smallskip\n{{\\raggedright\\footnotesize {escaped(note)}\\par}}\n"
        for note in section.notes
    )
    return (
        f"\\begin{{table}}[ht]\n\\centering\n\\caption{{{escaped(section.title)}}}\n\\label{{{label}}}\n\\small\n"
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
        f"{tabular}}}\n{notes}\\end{{table}}\n"
    )
