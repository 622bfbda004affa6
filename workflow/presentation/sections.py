"""Tables of a report, and how a study kind is shown: tidy frames, and sections of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.presentation.cells import DASH, Cell, columns_of, text
from workflow.presentation.statistics import by_model
from workflow.presentation.titles import dataset_title, method_title, titles_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("Dataset", "Method")
MOST_ROWS = 40  # of a table on a page


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
    def is_shown(self) -> bool:
        """Whether it is on a page; details, empty ones and long ones are in files alone."""
        rows = max(map(len, self.columns.values()), default=0)
        return not self.is_detail and 0 < rows <= MOST_ROWS

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
    """Sections with notes on all of them, below the last one that a page shows, before its own."""
    noted = list(sections)
    if noted:
        shown = [place for place, section in enumerate(sections) if section.is_shown]
        last = shown[-1] if shown else -1
        noted[last] = replace(noted[last], notes=(*notes, *noted[last].notes))
    return tuple(noted)


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


def model_columns(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    """Dataset and method of a frame with a row per model."""
    return columns_of([model_cells(row) for row in frame.to_dict("records")])


def model_cells(row: Mapping[Any, Any] | pd.Series) -> dict[str, Cell]:
    """Dataset and method of a row."""
    return {
        "Dataset": text(dataset_title(row["dataset"])),
        "Method": text(method_title(row["method"], row["variant"])),
    }


def probe_table(
    study: pd.DataFrame,
    means: pd.DataFrame,
    title: str,
    rows: Sequence[Mapping[str, Cell]],
    *notes: str,
) -> Table:
    """A table of one section; models without a result have a reason below it.

    Args:
        means: The tidy frame, which gets a row for each of these models.
        rows: Cells by column title.
    """
    models = pd.DataFrame([model.facts() for model in by_model(study)])
    failed = models[models["reason"] != ""]
    tidy = means.assign(reason="")
    if len(failed):
        tidy = pd.concat([tidy, failed], ignore_index=True)
    section = Section(title, columns_of(rows), (*notes, *failure_notes(models)))
    return Table(tidy, (section,))


def model_table(
    tidy: pd.DataFrame,
    title: str,
    columns: Mapping[str, list[Cell]],
    notes: Iterable[str],
    optional: Iterable[str] = (),
) -> Table:
    """A table of one section with a row per model, and the reasons of missing results below it.

    Args:
        columns: Cells by column title, without the dataset and the method.
        optional: Titles of columns that are left out if they have only dashes.
    """
    all_columns = {**model_columns(tidy), **columns}
    section = Section(title, all_columns, (*notes, *failure_notes(tidy)))
    return Table(tidy, (section.without_empty(*optional),))


@dataclass(frozen=True)
class View:
    """What the module `view` of a kind's package exports as `VIEW`.

    Attributes:
        tables: Functions of the collected study, by the name of their files.
        figures: The same; the docstring of a figure's function is its caption.
        optional: Conditions of figures that the report shows of some studies alone, by name.
        scored: Whether these functions take the scoring, too.
        drawn: Names of the figures on the report's page; None for all.
        columns: Columns of tables that the page shows, as far as they have them; empty for all.
        answer: A sentence of numbers of the first tidy table; empty if there are none.
        controls: Rows of the page's table of controls, from the same table.
    """

    tables: Mapping[str, Callable[..., Table]]
    figures: Mapping[str, Callable[..., Figure]] = field(default_factory=dict)
    optional: Mapping[str, Callable[..., bool]] = field(default_factory=dict)
    scored: bool = False
    drawn: tuple[str, ...] | None = None
    columns: tuple[str, ...] = ()
    answer: Callable[[pd.DataFrame], str] = lambda tidy: ""
    controls: Callable[[pd.DataFrame], list[dict[str, Cell]]] = lambda tidy: []

    def table(self, name: str, study: pd.DataFrame, scoring: Scoring) -> Table:
        """A table of a study, whose trainings the titles of methods are of."""
        with titles_of(study):
            return self.tables[name](*self._arguments(study, scoring))

    def figure(self, name: str, study: pd.DataFrame, scoring: Scoring) -> Figure:
        """A figure of a study."""
        with titles_of(study):
            return self.figures[name](*self._arguments(study, scoring))

    def caption(self, name: str) -> str:
        """Caption of a figure as one line."""
        return " ".join(str(self.figures[name].__doc__).split())

    def shown_figures(self, study: pd.DataFrame, scoring: Scoring) -> list[str]:
        """Figures that the report shows of a study; all of them have files."""
        names = list(self.figures)
        for name, has_content in self.optional.items():
            if not has_content(*self._arguments(study, scoring)):
                names.remove(name)
        return names

    def _arguments(self, study: pd.DataFrame, scoring: Scoring) -> list[Any]:
        return [study, scoring] if self.scored else [study]
