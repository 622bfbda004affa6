"""What a table is: sections of cells as text, and how numbers become text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from npt.table import TASKS, Task
from workflow.report.summary import dataset_title, method_title

DASH, NO_TIME = "–", "none"
NUMBER = re.compile(r"[+−-]?\d[\d,]*(\.\d+)?(e[+−-]?\d+)?(?![\w-])")
DURATION = re.compile(r"(\d[\d,]*(?:\.\d+)?) (h|min|s|ms)\b")
SECONDS = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 0.001}
TASK_TITLES: dict[Task, str] = {
    "binary": "Binary classification",
    "multiclass": "Multi-class classification",
    "regression": "Regression",
}


@dataclass(frozen=True)
class Section:
    """One printed table: title, cells as text (bold between **), notes, and what the page folds it under, if anything."""

    title: str
    cells: pd.DataFrame
    notes: tuple[str, ...] = ()
    fold: str = ""

    def markdown(self) -> str:
        """The cells as a Markdown table."""
        cells = self.cells.map(lambda cell: " ".join(str(cell).split()).replace("|", "\\|"))
        return cells.to_markdown(index=False, disable_numparse=True)


def noted(sections: Sequence[Section], *texts: str) -> tuple[Section, ...]:
    """Sections with notes on all of them, which stand under the last, before its own."""
    if not sections:
        return ()
    return (*sections[:-1], replace(sections[-1], notes=(*texts, *sections[-1].notes)))


@dataclass(frozen=True)
class Tabulated:
    """A table for machines and for readers."""

    tidy: pd.DataFrame
    sections: tuple[Section, ...]

    def markdown(self, preset: str) -> str:
        """All sections as Markdown."""
        parts = [f"Configuration: {preset}\n"]
        for section in self.sections:
            parts.append(f"### {section.title}\n\n{section.markdown()}\n")
            parts += [f"{' '.join(note.split())}\n" for note in section.notes]
        return "\n".join(parts)


def tasks_of(study: pd.DataFrame) -> list[Task]:
    """Tasks that occur in a study."""
    present = set(study["task"])
    return [task for task in TASKS if task in present]


def notes(frame: pd.DataFrame) -> tuple[str, ...]:
    """Why there are dashes, and what a star means."""
    lines = [
        f"{DASH} {method_title(row.method, row.variant)} on {dataset_title(row.dataset)}: {row.reason}"  # type: ignore[arg-type]
        for row in frame.itertuples()
        if row.reason
    ]
    if any(dataset_title(name).endswith("*") for name in frame["dataset"]):
        lines.append("\\* not one of the paper's ten tables")
    return tuple(lines)


def plus_minus(mean: float, error: float, digits: int, *, sign: bool = False) -> str:
    """A mean with its standard error, if it has one."""
    if np.isnan(mean):
        return DASH
    shown = number(mean, digits, sign=sign)
    return shown if np.isnan(error) else f"{shown} ± {error:.{digits}f}"


def number(value: float, digits: int, *, sign: bool = False) -> str:
    """A number with a proper minus sign."""
    if np.isnan(value):
        return DASH
    value = round(value, digits) + 0.0
    return f"{value:{'+' if sign and value else ''}.{digits}f}".replace("-", "−")


def probability(value: float) -> str:
    """A p-value."""
    if np.isnan(value):
        return DASH
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}".replace("-", "−")


def bold(text: str, on: bool = True) -> str:
    """Text between ** if it is to stand out."""
    return f"**{text}**" if on else text


def unbolded(text: str) -> tuple[str, bool]:
    """Text without its **, and whether it had them."""
    marked = text.startswith("**") and text.endswith("**") and len(text) > 4
    return (text[2:-2] if marked else text), marked


def decimals(value: float) -> int:
    """How many decimals a metric is shown with."""
    return 3 if np.isnan(value) or abs(value) < 10 else 2


def is_number(text: str) -> bool:
    """Whether a cell is a number or a duration, with whatever follows it: an error, a unit, a count of a whole."""
    return NUMBER.match(text.strip("*")) is not None or text == NO_TIME


def sort_key(text: str) -> float:
    """What a cell that is a number sorts by: the number, of a duration its seconds."""
    text = text.strip("*")
    if text == NO_TIME:
        return 0.0
    first = text.partition(", ")[0]
    parts = [(float(_plain(value)), unit) for value, unit in DURATION.findall(first)]
    if parts and not DURATION.sub("", first).strip():
        return sum(SECONDS[unit] * value for value, unit in parts)
    found = NUMBER.match(text)
    assert found, text
    return float(_plain(found[0]))


def _plain(number: str) -> str:
    return number.replace(",", "").replace("−", "-")


def duration(seconds: float) -> str:
    """Hours, minutes and seconds, as far as they are needed."""
    if np.isnan(seconds):
        return DASH
    if seconds == 0:
        return NO_TIME
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds >= 0.05 else f"{1000 * seconds:.0f} ms"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
