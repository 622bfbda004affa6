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
from workflow.config.fields import TUNED
from workflow.config.scoring import Scoring
from workflow.planning.paths import FIGURE_FORMATS, RESULTS, TABLE_FORMATS, run_rows
from workflow.planning.run import Run
from workflow.report.caveats import caveats
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
from workflow.studies.study_kind import Card, StudyKind


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
    finding: str
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
) -> str:
    """HTML of the report from collected studies, drawn figures and prepared datasets.

    Args:
        study_kinds: Name of every study's kind.
        results: Folder with the folder `figures`.
        runs: Of the plan, for what is said about the sizes of models.
        note: That of the configuration, which is shown as it is.
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
        caveats=caveats(studies.values(), prepared, runs),
        cards=cards(studies, kind_of, scoring),
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


def cards(
    studies: Mapping[str, pd.DataFrame],
    kind_of: Mapping[str, StudyKind],
    scoring: Scoring,
) -> list[Card]:
    """What studies contribute to the first screen, in the order of their kinds."""
    made = []
    for name in sorted(studies, key=lambda name: kind_of[name].order):
        kind = kind_of[name]
        for card in kind.cards(studies[name], scoring):
            made.append(_shortened(card, name))
    return made


def _shortened(card: Card, study: str) -> Card:
    """A card of a study; on the first screen a method has one variant, which needs no name."""
    of_best = f" ({TUNED})"
    return replace(
        card,
        study=study,
        verdict=card.verdict.replace(of_best, ""),
        evidence=card.evidence.replace(of_best, ""),
    )


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
        finding = kind.finding(study, scoring)
        study_as_shown = ShownStudy(
            name=name,
            title=kind.title,
            shares_title=counts[kind.name] > 1,
            finding=finding,
            extent=extent(study),
            figures=[
                _shown_figure(f"{name}.{figure}", kind.caption(figure, study), finding, results)
                for figure in kind.shown_figures(study, scoring)
            ],
            tables=_shown_tables(study, kind, scoring),
        )
        shown.append(study_as_shown)
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


def _shown_tables(
    study: pd.DataFrame,
    kind: StudyKind,
    scoring: Scoring,
) -> list[ShownTable]:
    tables = []
    for name in kind.tables:
        sections = kind.table(name, study, scoring).sections
        tables.append(ShownTable(name, _groups(sections)))
    return tables


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


def _shown_figure(
    stem: str,
    caption: str,
    finding: str,
    results: Path,
) -> ShownFigure:
    """A figure whose description for those who do not see it has the numbers of the finding."""
    path = results / "figures" / f"{stem}.svg"
    prefix = stem.replace(".", "-")
    drawing = inline_svg(path, prefix, f"{caption} {finding}")
    return ShownFigure(stem, caption, drawing)
