"""The README of a folder of rows: the tables of each study as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from npt.errors import UserError
from npt.provenance import ROOT
from workflow.config.models import Config
from workflow.config.reading import read_file
from workflow.config.scoring import Scoring
from workflow.report.markdown import markdown_table
from workflow.report.page import extent, run_line
from workflow.report.run_facts import run_facts
from workflow.results.study_file import read_study
from workflow.studies import kinds
from workflow.studies.study_kind import StudyKind

REFERENCE = ROOT / "results" / "reference"
CONFIG = "config.yaml"
README = "README.md"
MOST_ROWS = 40  # of a table; longer ones are in the report alone
MODEL_ROW = ["dataset", "method", "variant", "fold", "seed"]


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
    kind_names = {name: config.studies[name].kind for name in studies}
    return summary(studies, kind_names, config.scoring, config.preset, config.note)


def reference_study(name: str) -> pd.DataFrame:
    """Rows of a study under `results/reference` by FOLDER/STUDY, with those of other folders."""
    folder, _, study = name.partition("/")
    return stored_study(REFERENCE / folder, study, read_file(REFERENCE / folder / CONFIG))


def stored_study(folder: Path, name: str, config: Config) -> pd.DataFrame:
    """Rows of a study in a folder, and its external results."""
    parts = [read_study(folder / f"{name}.csv")]
    if name in config.studies:
        for external in config.studies[name].external_results:
            parts.append(read_study(ROOT / external))
    if len(parts) == 1:
        return parts[0]
    return pd.concat(parts, ignore_index=True).drop_duplicates(MODEL_ROW, ignore_index=True)


def summary(
    studies: Mapping[str, pd.DataFrame],
    kind_names: Mapping[str, str],
    scoring: Scoring,
    preset: str,
    note: str = "",
) -> str:
    """Title, provenance, and the tables of each study."""
    facts = " · ".join([run_line(studies, preset), *run_facts(studies.values())])
    parts = [f"# {preset}", facts]
    if note:
        parts.append(note)
    for name, study in studies.items():
        parts += _study_parts(name, study, kinds()[kind_names[name]], scoring)
    return "\n\n".join(parts) + "\n"


def _study_parts(name: str, study: pd.DataFrame, kind: StudyKind, scoring: Scoring) -> list[str]:
    parts = [f"## {kind.title}: {name}", extent(study)]
    for table in kind.tables:
        for section in kind.table(table, study, scoring).sections:
            if section.group or not 0 < len(section.rows) <= MOST_ROWS:
                continue
            parts += [f"### {section.title}", markdown_table(section)]
            parts += [" ".join(text.split()) for text in section.notes]
    return parts
