"""Columns of the benchmarks' tables on the terminal, and texts as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]
Columns = dict[str, str]
"""Format string over the fields of a row, by column title."""

STEP: Columns = {
    "configuration": "{configuration}",
    "implementation": "{implementation}",
    "step, ms": "{step_ms:.0f}",
    "evaluation, ms": "{evaluation_ms:.0f}",
    "share of the matrix rate": "{share_of_rate:.0%} of {rate_teraflops:.3f} TFLOP/s",
    "peak, MB": "{peak_mb:,.0f}",
    "speed-up of a step": "{step_speedup:.2f} ×",
    "with evaluation": "{training_speedup:.2f} ×",
}
SOLVED: Columns = {
    "rows": "{rows:,}",
    "system": "{system}",
    "fit, s": "{fit_seconds:.2f}",
    "1,000 predictions, s": "{predict_seconds:.2f}",
    "peak, MB": "{peak_mb:,.0f}",
    "RMSE (noise 1)": "{rmse:.3f}",
}
NUMERIC_START = tuple("0123456789−+")


def cells(row: Row, columns: Columns) -> list[str]:
    """A row as text; a field that is missing or None gives a dash."""
    return [_cell(row, template) for template in columns.values()]


def print_titles(columns: Columns) -> None:
    """Print the titles of columns."""
    print(_line(columns, columns), flush=True)


def print_row(row: Row, columns: Columns) -> None:
    """Print a row below its titles."""
    print(_line(cells(row, columns), columns), flush=True)


def _line(texts: Iterable[str], titles: Iterable[str]) -> str:
    """Texts padded to the width of their titles, or to that of the longest names."""
    padded = []
    for text, title in zip(texts, titles, strict=True):
        width = max(18, len(title))
        padded.append(text.ljust(width))
    return " ".join(padded).rstrip()


def markdown_of_cells(titles: list[str], rows: list[list[str]]) -> str:
    """Texts as a Markdown table."""
    alignments = [_alignment(text) for text in rows[0]]
    lines = [titles, alignments, *rows]
    return "\n".join(f"| {' | '.join(texts)} |" for texts in lines)


def _cell(row: Row, template: str) -> str:
    try:
        return template.format_map(row)
    except (KeyError, TypeError):
        return "–"


def _alignment(text: str) -> str:
    return "---:" if text.startswith(NUMERIC_START) else "---"
