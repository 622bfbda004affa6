"""How a study kind is shown: its tables, its figures and its section of the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell
from workflow.report.sections import Table
from workflow.report.titles import titles_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MakesTable = Callable[[pd.DataFrame, Scoring], Table]
MakesFigure = Callable[[pd.DataFrame, Scoring], "Figure"]
MakesAnswer = Callable[[pd.DataFrame], str]
NAMES = ("Dataset", "Method")


@dataclass(frozen=True)
class Card:
    """What the report's page shows of a study; a kind without one has all tables and figures.

    Attributes:
        question: Heading of its section, which kinds may share.
        table: The table that is shown.
        columns: Its columns that are shown, as far as the table has them; empty for all.
        answer: A sentence of numbers of the tidy table; empty if there are none.
        figures: Names of the figures that are shown.
        controls: Rows of the table of controls, from the tidy table.
    """

    question: str
    table: MakesTable
    columns: tuple[str, ...] = ()
    answer: MakesAnswer | None = None
    figures: tuple[str, ...] = ()
    controls: Callable[[pd.DataFrame], list[dict[str, Cell]]] | None = None


@dataclass(frozen=True)
class View:
    """What the module `view` of a kind's package exports as `VIEW`.

    Tables and figures are functions of the collected study and the scoring, whose names are those
    of their files. The docstring of a figure's function is its caption.

    Attributes:
        optional: Conditions of figures that the report shows of some studies alone, by name.
    """

    tables: tuple[MakesTable, ...]
    figures: tuple[MakesFigure, ...] = ()
    card: Card | None = None
    optional: dict[str, Callable[[pd.DataFrame, Scoring], bool]] | None = None

    def table(self, name: str, study: pd.DataFrame, scoring: Scoring) -> Table:
        """A table of a study, whose trainings the titles of methods are of."""
        with titles_of(study):
            return _named(self.tables, name)(study, scoring)

    def figure(self, name: str, study: pd.DataFrame, scoring: Scoring) -> Figure:
        """A figure of a study."""
        with titles_of(study):
            return _named(self.figures, name)(study, scoring)

    def caption(self, name: str) -> str:
        """Caption of a figure as one line."""
        return " ".join(str(_named(self.figures, name).__doc__).split())

    def shown_figures(self, study: pd.DataFrame, scoring: Scoring) -> list[str]:
        """Figures that the report shows of a study; all of them have files."""
        names = [figure.__name__ for figure in self.figures]
        for name, has_content in (self.optional or {}).items():
            if not has_content(study, scoring):
                names.remove(name)
        return names


def _named(functions: tuple[Any, ...], name: str) -> Any:
    """The function of a name."""
    return next(function for function in functions if function.__name__ == name)
