"""Studies as the page and the README show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from workflow.config.models import Study, StudyConfig
from workflow.config.scoring import Scoring
from workflow.presentation.sections import NAMES, Section, Table
from workflow.presentation.titles import titles_of
from workflow.studies import kinds
from workflow.studies.study_kind import StudyKind


@dataclass(frozen=True)
class ReportedStudy:
    """A study and its tables, which are computed once.

    Attributes:
        tables: By name.
        figures: Names of those that have something to show.
    """

    name: str
    kind: StudyKind
    rows: pd.DataFrame
    tables: Mapping[str, Table]
    figures: tuple[str, ...]

    @property
    def tidy(self) -> pd.DataFrame:
        """The first table in full precision."""
        return next(iter(self.tables.values())).tidy

    @property
    def answer(self) -> str:
        """A sentence of numbers; empty if the kind has none, or the study no result."""
        with titles_of(self.rows):
            return self.kind.view.answer(self.tidy)

    @property
    def sections(self) -> list[Section]:
        """Sections of all tables without details, as far as they are short."""
        columns = self.kind.view.columns
        sections = []
        for table in self.tables.values():
            for section in table.sections:
                if not section.is_shown:
                    continue
                if columns:
                    section = section.without(set(section.columns) - {*NAMES, *columns})
                if not set(section.columns) <= set(NAMES):
                    sections.append(section)
        return sections

    @property
    def page_figures(self) -> list[str]:
        """Names of the figures of the page."""
        drawn = self.kind.view.drawn
        return [name for name in self.figures if drawn is None or name in drawn]


def reported_studies(
    studies: Mapping[str, pd.DataFrame], blocks: Mapping[str, Study | StudyConfig], scoring: Scoring
) -> list[ReportedStudy]:
    """The studies in the order of their kinds, with all tables.

    Args:
        blocks: Their blocks of the configuration, by name.
    """
    reported = []
    for name, rows in studies.items():
        kind = kinds()[blocks[name].kind]
        tables = {table: kind.view.table(table, rows, scoring) for table in kind.view.tables}
        figures = tuple(kind.view.shown_figures(rows, scoring))
        reported.append(ReportedStudy(name, kind, rows, tables, figures))
    return sorted(reported, key=lambda study: study.kind.order)
