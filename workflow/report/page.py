"""The report: all studies, and their origin, in one HTML file that opens without a network."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from npt.data.store import Prepared
from npt.metrics import METRICS
from npt.provenance import ROOT
from workflow.config.folds import format_folds
from workflow.config.scoring import Scoring
from workflow.presentation.cells import columns_of, counted, percent, significant, text
from workflow.presentation.sections import Section
from workflow.presentation.statistics import METHOD, TRAINING, datasets_and_folds
from workflow.presentation.titles import dataset_title
from workflow.report.formats import html_note, html_table
from workflow.report.study import ReportedStudy
from workflow.report.svg import inline_svg

TEMPLATES = Path(__file__).with_name("templates")
VERSION_COLUMNS = ["method", "versions", "device", "source"]
SECONDS = ["fit_seconds", "predict_seconds"]
SECONDS_OF_GIT = 30


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
        autoescape=True,
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
        controls += study.kind.view.controls(study.tidy)
    facts = [run_line(rows.values(), preset)]
    if revision := code_revision():
        facts.append(f"revision {revision}")
    return environment.get_template("page.html.j2").render(
        preset=preset,
        run_line=" · ".join(facts),
        note=note,
        questions=questions,
        drawing=drawing,
        controls=Section("Controls", columns_of(controls)) if controls else None,
        datasets=datasets_section(prepared),
        prepared=prepared,
        versions=version_lines(rows.values()),
        failures=failures(rows, scoring),
    )


def extent(study: pd.DataFrame) -> str:
    """How much a study rests on."""
    facts = planned_folds(study)
    if study["seed"].nunique() > 1:
        facts += f" × {study['seed'].nunique()} seeds"
    if "rows" in study and study["rows"].notna().any():
        facts += f", at most {study['rows'].max():.0f} probed test rows of each"
    return facts


def planned_folds(rows: pd.DataFrame) -> str:
    """How many datasets and folds there are in one or several studies."""
    folds = rows.groupby(["study", *METHOD, "dataset"], dropna=False)["fold"].nunique()
    return datasets_and_folds(folds.reset_index(name="folds"))


def run_line(studies: Iterable[pd.DataFrame], preset: str) -> str:
    """What was run, when, how long its methods computed, and on which machine."""
    names = ["study", *TRAINING, *SECONDS, "status", "machine", "date"]
    rows = pd.concat([study.reindex(columns=names) for study in studies])
    methods = counted(rows["method"].nunique(), "method")
    facts = [f"Run {preset}: {planned_folds(rows)} × {methods}"]
    dates = rows["date"].dropna()
    if len(dates):
        facts.append(" to ".join(dict.fromkeys([dates.min(), dates.max()])))
    trainings = rows[rows["status"] == "ok"].groupby(TRAINING)[SECONDS].max()
    seconds = trainings.sum().sum()
    if seconds > 0:
        least = "at least " if trainings["fit_seconds"].isna().any() else ""
        facts.append(f"{least}{significant(seconds / 60)} minutes of training and prediction")
    machines = rows["machine"].dropna().unique()
    if len(machines):
        facts.append(machines[0] if len(machines) == 1 else f"{len(machines)} machines")
    return " · ".join(facts)


def code_revision() -> str:
    """The git commit of this code; empty where it is installed without its repository."""
    if not (ROOT / "pyproject.toml").exists():  # git would find a repository around it
        return ""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=SECONDS_OF_GIT
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def datasets_section(prepared: Iterable[Prepared]) -> Section:
    """Size, task and licence of every dataset."""
    rows = []
    for dataset in prepared:
        table = dataset.table
        kinds = [table.columns[column].kind for column in table.features]
        missing = sum(int(np.isnan(table.numbers(column)).sum()) for column in table.features)
        row = {
            "Dataset": text(dataset_title(dataset.facts["name"])),
            "Task": text(table.task),
            "Rows": text(f"{table.rows:,}"),
            "Features": text(len(kinds)),
            "Categorical": text(kinds.count("categorical")),
            "Missing": percent(missing / max(1, table.rows * len(kinds)), 1),
            "Licence": text(dataset.facts["licence"]),
        }
        rows.append(row)
    return Section("Data", columns_of(rows))


def version_lines(studies: Iterable[pd.DataFrame]) -> list[str]:
    """Versions of libraries, devices, and sources of external results."""
    rows = pd.concat([study.reindex(columns=VERSION_COLUMNS) for study in studies])
    libraries = set()
    for versions in rows["versions"].dropna().unique():
        libraries |= {f"{name} {version}" for name, version in json.loads(versions).items()}
    devices = sorted(set(rows["device"].dropna()))
    lines = [
        f"Libraries: {', '.join(sorted(libraries))}.",
        f"Device: {', '.join(devices) or 'unknown'}.",
    ]
    for source, part in rows.dropna(subset="source").groupby("source", sort=False):
        lines.append(f"External results of {', '.join(part['method'].unique())}: {source}.")
    return lines


def failures(studies: Mapping[str, pd.DataFrame], scoring: Scoring) -> list[str]:
    """A line for the folds of a run that lack a result for the same reason."""
    folds: dict[str, list[int]] = {}
    for name, study in studies.items():
        for row in study.to_dict("records"):
            metric = scoring.metrics[row["task"]]
            reason = row["reason"]
            if row["status"] == "ok":
                if not pd.isna(row.get(f"test_{metric}", 0.0)):
                    continue
                reason = f"no {METRICS[metric].title} on its test rows"
            seed = f", seed {row['seed']}" if row.get("seed", 0) else ""
            run = f"{name}: {row['method']} ({row['variant']}) on {row['dataset']}{seed}"
            folds.setdefault(f"{run}: {reason}", []).append(row["fold"])
    lines = []
    for line, numbers in folds.items():
        lines.append(f"{line} (folds {format_folds(numbers).replace('_', ', ')})")
    return lines


def results_line(studies: Mapping[str, pd.DataFrame]) -> str:
    """How many results there are, and how many failed."""
    statuses = pd.concat([study["status"] for study in studies.values()])
    failed = int((statuses != "ok").sum())
    finished = f"{len(statuses) - failed} of {counted(len(statuses), 'result')}"
    return f"{finished}; {failed} failed or skipped, see the report" if failed else finished
