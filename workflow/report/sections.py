"""A table of a report: a tidy frame for machines, and sections of cells for readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from workflow.report.cells import DASH, Cell
from workflow.report.titles import dataset_title, method_title


@dataclass(frozen=True)
class Section:
    """One printed table.

    Attributes:
        columns: Cells by column title; all columns have the same length.
        notes: Remarks below the table.
        is_detail: Whether it is in files alone, and not in the report.
    """

    title: str
    columns: dict[str, list[Cell]]
    notes: tuple[str, ...] = ()
    is_detail: bool = False

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """The cells row by row."""
        return list(zip(*self.columns.values(), strict=True))

    def without_empty(self, *optional: str) -> Section:
        """The section without those of the `optional` columns that have only dashes, or none."""
        empty = []
        for title in optional:
            if all(cell.is_missing for cell in self.columns.get(title, ())):
                empty.append(title)
        return self.without(empty)

    def without(self, titles: Iterable[str]) -> Section:
        """The section without some columns, and without notes that begin with their titles."""
        left_out = set(titles)
        kept = {title: cells for title, cells in self.columns.items() if title not in left_out}
        explained = tuple(f"`{title}`" for title in left_out)
        notes = tuple(note for note in self.notes if not note.startswith(explained))
        return replace(self, columns=kept, notes=notes)


@dataclass(frozen=True)
class Table:
    """A table in full precision (`tidy`), and as a reader sees it."""

    tidy: pd.DataFrame
    sections: tuple[Section, ...]


def with_notes(sections: Sequence[Section], *notes: str) -> tuple[Section, ...]:
    """Sections with notes on all of them, below the last one, before its own."""
    if not sections:
        return ()
    last = sections[-1]
    return (*sections[:-1], replace(last, notes=(*notes, *last.notes)))


def failure_notes(frame: pd.DataFrame) -> tuple[str, ...]:
    """Reasons of missing results, and the meaning of a star, for a frame with a row per model."""
    notes = []
    for row in frame.to_dict("records"):
        if row["reason"]:
            title = method_title(row["method"], row["variant"])
            notes.append(f"{DASH} {title} on {dataset_title(row['dataset'])}: {row['reason']}")
    titles = [dataset_title(name) for name in frame["dataset"]]
    if any(title.endswith("*") for title in titles):
        notes.append("\\* not one of the paper's ten datasets")
    return tuple(notes)
