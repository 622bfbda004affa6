"""The report: all studies in one HTML file that opens without a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from npt.data.store import Prepared
from workflow.config.scoring import Scoring
from workflow.planning.paths import FIGURE_FORMATS, RESULTS, TABLE_FORMATS, run_rows
from workflow.planning.run import Run
from workflow.report.cells import counted
from workflow.report.failures import failures
from workflow.report.html import rendered
from workflow.report.provenance import datasets_section, version_lines
from workflow.report.run_facts import code_revision, run_facts
from workflow.report.sections import Section
from workflow.report.settings import all_settings, settings_section
from workflow.report.shipped import shipped_section
from workflow.report.statistics import has_seeds
from workflow.report.svg import inline_svg
from workflow.report.titles import dataset_title, method_titles, titles_of
from workflow.studies import kinds
from workflow.studies.study_kind import StudyKind


@dataclass(frozen=True)
class ShownFigure:
    """A figure as the page shows it.

    Attributes:
        name: Stem of its files.
        drawing: The SVG.
    """

    name: str
    caption: str
    drawing: Markup


@dataclass(frozen=True)
class ShownTable:
    """A table: sections in order, in groups whose title folds them away unless it is empty."""

    name: str
    groups: Sequence[tuple[str, Sequence[Section]]]


@dataclass(frozen=True)
class Answer:
    """A row of a study's table that answers a question on the first screen.

    Attributes:
        row: Texts by column.
    """

    study: str
    question: str
    row: Mapping[str, str]


@dataclass
class FirstScreen:
    """What stands below the answers: what leads the first study of each kind."""

    figures: list[ShownFigure] = field(default_factory=list)
    tables: list[ShownTable] = field(default_factory=list)


@dataclass(frozen=True)
class ShownStudy:
    """A study as the page shows it; `shares_title` if the page has others of its kind."""

    name: str
    title: str
    shares_title: bool
    extent: str
    figures: Sequence[ShownFigure]
    tables: Sequence[ShownTable]


def render(
    studies: Mapping[str, pd.DataFrame],
    study_kinds: Mapping[str, str],
    scoring: Scoring,
    preset: str,
    results: Path,
    prepared: Sequence[Prepared],
    runs: Sequence[Run] = (),
    note: str = "",
    answers: Sequence[Answer] = (),
) -> str:
    """HTML of the report from collected studies, drawn figures and prepared datasets.

    Args:
        study_kinds: Name of every study's kind.
        results: Folder with the folder `figures`.
        runs: Of the plan, whose settings and rows the page shows.
        note: That of the configuration, which is shown as it is.
        answers: Rows of tables that lead the page.
    """
    kind_of = {name: kinds()[kind] for name, kind in study_kinds.items()}
    facts = [run_line(studies, preset), *run_facts(studies.values())]
    shown = _shown_studies(studies, kind_of, scoring, results)
    first, others = _first_screen(shown, kind_of)
    reference = shipped_section(studies.values(), scoring)
    if reference:
        first.tables.append(ShownTable("", [("", [reference])]))
    return rendered(
        "page.html.j2",
        preset=preset,
        rows_of_runs=_rows_of_runs(runs),
        run_line=" · ".join(filter(None, [*facts, code_revision()])),
        note=note,
        answers=answers,
        first=first,
        studies=others,
        methods=_in_tables(_titles(studies, "method"), shown),
        dataset_titles=_titles(studies, "dataset"),
        formats={"figures": FIGURE_FORMATS, "tables": TABLE_FORMATS},
        datasets=datasets_section(prepared),
        custom_datasets=_descriptions(prepared),
        settings=settings_section(studies.values()),
        all_settings=all_settings(runs),
        versions=version_lines(studies.values()),
        failures=failures(studies, scoring),
        has_stars=_has_stars(studies),
    )


def _rows_of_runs(runs: Sequence[Run]) -> dict[str, str]:
    """Path from the page to the rows of the first folds of every run, by its key."""
    paths: dict[str, str] = {}
    for run in runs:
        path = run_rows(run.stem).removeprefix(f"{RESULTS}/")
        paths.setdefault(run.key, f"../{path}")
    return paths


def _titles(studies: Mapping[str, pd.DataFrame], what: str) -> list[str]:
    """Titles of the methods or datasets, by which a reader may filter."""
    titles: list[str] = []
    for study in studies.values():
        if what == "method":
            with titles_of(study):
                titles += method_titles(study)
        else:
            titles += [dataset_title(name) for name in study[what]]
    return list(dict.fromkeys(titles))


def _in_tables(titles: Sequence[str], studies: Sequence[ShownStudy]) -> list[str]:
    """Those of the titles that a table of the studies has as a cell or a head."""
    texts: set[str] = set()
    for study in studies:
        for table in study.tables:
            for _, sections in table.groups:
                for section in sections:
                    texts |= _texts(section)
    return [title for title in titles if title in texts]


def _texts(section: Section) -> set[str]:
    """Heads and cells of a section."""
    texts = set(section.columns)
    for cells in section.columns.values():
        texts.update(cell.text for cell in cells)
    return texts


def run_line(studies: Mapping[str, pd.DataFrame], preset: str) -> str:
    """What was run, in a line."""
    counts = []
    for noun in ("dataset", "fold", "method"):
        columns = [study[noun] for study in studies.values()]
        values = pd.concat(columns)
        count = counted(values.nunique(), noun)
        counts.append(count)
    return f"Run {preset}: {' × '.join(counts)}"


def extent(study: pd.DataFrame) -> str:
    """How much a study rests on."""
    folds = study["fold"].nunique()
    repeated = has_seeds(study)
    nouns = ["dataset", "fold", "seed"] if repeated else ["dataset", "fold"]
    counts = [counted(study[noun].nunique(), noun) for noun in nouns]
    parts = [", ".join(counts)]
    if "rows" in study and study["rows"].notna().any():
        fewest = study["rows"].min()
        most = study["rows"].max()
        rows = f"{most:.0f}" if fewest == most else f"{fewest:.0f} to {most:.0f}"
        parts.append(f"{rows} probed test rows per fold and dataset")
    if folds == 1 and not repeated:
        parts.append("the variation between trainings is unknown")
    return f"Based on {'; '.join(parts)}."


def answers(
    studies: Mapping[str, pd.DataFrame], study_kinds: Mapping[str, str], scoring: Scoring
) -> list[Answer]:
    """A row of each study whose kind has a card, in the order of the kinds."""
    answered = []
    for name in sorted(studies, key=lambda name: kinds()[study_kinds[name]].order):
        card = kinds()[study_kinds[name]].view.card
        row = card.row(studies[name], scoring) if card else {}
        if card and row:
            answered.append(Answer(name, card.question, row))
    return answered


def _has_stars(studies: Mapping[str, pd.DataFrame]) -> bool:
    names = {name for study in studies.values() for name in study["dataset"].unique()}
    return any(dataset_title(name).endswith("*") for name in names)


def _descriptions(prepared: Sequence[Prepared]) -> list[Any]:
    """Lines about every custom dataset."""
    facts = [dataset.facts for dataset in prepared]
    return [known["description"] for known in facts if "description" in known]


def _shown_studies(
    studies: Mapping[str, pd.DataFrame],
    kind_of: Mapping[str, StudyKind],
    scoring: Scoring,
    results: Path,
) -> list[ShownStudy]:
    counts = Counter(kind_of[name].name for name in studies)
    shown = []
    for name, study in studies.items():
        kind = kind_of[name]
        figures = []
        for figure in kind.view.shown_figures(study, scoring):
            stem = f"{name}.{figure}"
            caption = kind.view.caption(figure)
            path = results / "figures" / f"{stem}.svg"
            drawing = inline_svg(path, stem.replace(".", "-"), caption)
            figures.append(ShownFigure(stem, caption, drawing))
        tables = []
        for table in kind.tables:
            sections = kind.table(table, study, scoring).sections
            tables.append(ShownTable(table, _groups(sections)))
        is_one_of_several = counts[kind.name] > 1
        shown.append(
            ShownStudy(name, kind.title, is_one_of_several, extent(study), figures, tables)
        )
    return shown


def _first_screen(
    studies: Sequence[ShownStudy], kind_of: Mapping[str, StudyKind]
) -> tuple[FirstScreen, list[ShownStudy]]:
    """What leads the first study of each kind, and the studies without it."""
    first = FirstScreen()
    led: set[str] = set()
    others = []
    for study in studies:
        kind = kind_of[study.name]
        if kind.name in led:
            others.append(study)
            continue
        led.add(kind.name)
        stem = f"{study.name}.{kind.first_figure}"
        first.figures += [figure for figure in study.figures if figure.name == stem]
        first.tables += [table for table in study.tables if table.name == kind.first_table]
        figures = [figure for figure in study.figures if figure.name != stem]
        tables = [_without_sections(table, kind.first_table) for table in study.tables]
        others.append(replace(study, figures=figures, tables=tables))
    return first, others


def _without_sections(table: ShownTable, name: str) -> ShownTable:
    """The table with its files alone, if it has this name."""
    return ShownTable(table.name, ()) if table.name == name else table


def _groups(sections: Sequence[Section]) -> list[tuple[str, Sequence[Section]]]:
    """Visible sections first, then those of every group."""
    groups: dict[str, list[Section]] = {"": []}
    for section in sections:
        groups.setdefault(section.group, []).append(section)
    titled = []
    for title, members in groups.items():
        if title and len(members) > 1:
            title = f"{title} ({len(members)} tables)"
        titled.append((title, members))
    return titled
