"""The README of a folder of rows: the tables of each study as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from npt.errors import UserError
from npt.provenance import ROOT
from workflow.config.models import Config
from workflow.config.reading import read_file
from workflow.presentation.statistics import TRAINING
from workflow.report.formats import markdown_table
from workflow.report.page import extent, run_line
from workflow.report.study import ReportedStudy, reported_studies
from workflow.results.study_file import read_study

REFERENCE = ROOT / "results" / "reference"
CONFIG = "config.yaml"
README = "README.md"


def folder_summary(folder: Path) -> str:
    """Summary of the studies in a folder, from its configuration and its STUDY.csv files.

    Raises:
        UserError: the folder has no configuration, or no rows of any of its studies.
    """
    path = folder / CONFIG
    if not path.exists():
        raise UserError(f"{path}: does not exist; it names the studies of the folder")
    config = read_file(path)
    studies = {}
    for name in config.studies:
        if (folder / f"{name}.csv").exists():
            studies[name] = stored_study(folder, name, config)
    if not studies:
        raise UserError(f"{folder}: has no STUDY.csv of {', '.join(config.studies)}")
    reported = reported_studies(studies, config.studies, config.scoring)
    return summary(reported, config.preset, config.note)


def reference_study(name: str) -> pd.DataFrame:
    """Rows of a study under `results/reference` by FOLDER/STUDY, with those of other folders."""
    folder, _, study = name.partition("/")
    return stored_study(REFERENCE / folder, study, read_file(REFERENCE / folder / CONFIG))


def stored_study(folder: Path, name: str, config: Config) -> pd.DataFrame:
    """Rows of a study in a folder, and its external results."""
    rows = read_study(folder / f"{name}.csv")
    parts = [rows]
    has_external = "source" in rows and rows["source"].notna().any()
    if name in config.studies and not has_external:
        for external in config.studies[name].external_results:
            parts.append(read_study(ROOT / external))
    return pd.concat(parts, ignore_index=True).drop_duplicates(TRAINING, ignore_index=True)


def summary(reported: Sequence[ReportedStudy], preset: str, note: str = "") -> str:
    """Title, provenance, and the tables of each study."""
    parts = [f"# {preset}", run_line([study.rows for study in reported], preset)]
    if note:
        parts.append(note)
    for study in reported:
        parts += [f"## {study.name}: {study.kind.title}", f"Based on {extent(study.rows)}."]
        parts += [study.answer] if study.answer else []
        for section in study.sections:
            parts += [f"### {section.title}", markdown_table(section)]
            parts += [" ".join(text.split()) for text in section.notes]
    return "\n\n".join(parts) + "\n"
