"""How a study kind is shown: its tables, its figures and its section of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell
from workflow.report.sections import Table
from workflow.report.titles import titles_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("Dataset", "Method")


@dataclass(frozen=True)
class Card:
    """What the report's page shows of a study; a kind without one has all tables and figures.

    Attributes:
        table: Name of the table that is shown.
        columns: Its columns that are shown, as far as the table has them; empty for all.
        answer: A sentence of numbers of the tidy table; empty if there are none.
        figures: Names of the figures that are shown.
        controls: Rows of the table of controls, from the tidy table.
    """

    table: str
    columns: tuple[str, ...] = ()
    answer: Callable[[pd.DataFrame], str] | None = None
    figures: tuple[str, ...] = ()
    controls: Callable[[pd.DataFrame], list[dict[str, Cell]]] | None = None


@dataclass(frozen=True)
class View:
    """What the module `view` of a kind's package exports as `VIEW`.

    Attributes:
        tables: Functions of the collected study and the scoring, by the name of their files.
        figures: The same; the docstring of a figure's function is its caption.
        optional: Conditions of figures that the report shows of some studies alone, by name.
    """

    tables: Mapping[str, Callable[[pd.DataFrame, Scoring], Table]]
    figures: Mapping[str, Callable[[pd.DataFrame, Scoring], Figure]] = field(default_factory=dict)
    card: Card | None = None
    optional: Mapping[str, Callable[[pd.DataFrame, Scoring], bool]] = field(default_factory=dict)

    def table(self, name: str, study: pd.DataFrame, scoring: Scoring) -> Table:
        """A table of a study, whose trainings the titles of methods are of."""
        with titles_of(study):
            return self.tables[name](study, scoring)

    def figure(self, name: str, study: pd.DataFrame, scoring: Scoring) -> Figure:
        """A figure of a study."""
        with titles_of(study):
            return self.figures[name](study, scoring)

    def caption(self, name: str) -> str:
        """Caption of a figure as one line."""
        return " ".join(str(self.figures[name].__doc__).split())

    def shown_figures(self, study: pd.DataFrame, scoring: Scoring) -> list[str]:
        """Figures that the report shows of a study; all of them have files."""
        names = list(self.figures)
        for name, has_content in self.optional.items():
            if not has_content(study, scoring):
                names.remove(name)
        return names
