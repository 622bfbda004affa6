"""The report: all studies in one HTML file that opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from npt.data.store import Prepared
from workflow.config.scoring import Scoring
from workflow.report.cells import counted
from workflow.report.formats import html_note, html_table
from workflow.report.provenance import (
    code_revision,
    datasets_section,
    failures,
    run_line,
    version_lines,
)
from workflow.report.sections import Section
from workflow.report.study import ReportedStudy
from workflow.report.svg import inline_svg
from workflow.studies.error_columns import columns_of

TEMPLATES = Path(__file__).with_name("templates")


def render(
    reported: Sequence[ReportedStudy],
    scoring: Scoring,
    preset: str,
    results: Path,
    prepared: Sequence[Prepared],
    note: str = "",
) -> str:
    """HTML of the report from studies, drawn figures and prepared datasets.

    Args:
        results: Folder with the folder `figures`.
        note: That of the configuration, which is shown as it is.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(["html", "j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
    )

    def drawing(study: ReportedStudy, figure: str) -> Markup:
        file = results / "figures" / study.name / f"{figure}.svg"
        return inline_svg(file, f"{study.name}-{figure}", study.kind.view.caption(figure))

    environment.filters |= {"table": html_table, "note": html_note, "extent": extent}
    rows = {study.name: study.rows for study in reported}
    questions: dict[str, list[ReportedStudy]] = {}
    controls = []  # what must have no effect, and what must have one
    for study in reported:
        questions.setdefault(study.kind.title, []).append(study)
        card = study.kind.view.card
        if card and card.controls:
            controls += card.controls(study.tables[card.table].tidy)
    facts = [run_line(rows.values(), preset), code_revision()]
    return environment.get_template("page.html.j2").render(
        preset=preset,
        run_line=" · ".join(filter(None, facts)),
        note=note,
        questions=questions,
        drawing=drawing,
        controls=Section("Controls", columns_of(controls)) if controls else None,
        datasets=datasets_section(prepared),
        descriptions=[
            dataset.facts["description"] for dataset in prepared if "description" in dataset.facts
        ],
        versions=version_lines(rows.values()),
        failures=failures(rows, scoring),
    )


def extent(study: pd.DataFrame) -> str:
    """How much a study rests on."""
    nouns = ["dataset", "fold"]
    if study["seed"].nunique() > 1:
        nouns.append("seed")
    counts = [counted(study[noun].nunique(), noun) for noun in nouns]
    if "rows" in study and study["rows"].notna().any():
        counts.append(f"at most {study['rows'].max():.0f} probed test rows of each")
    return ", ".join(counts)
