"""Files of a study's tables and figures; the same rows give the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from npt.atomic import replacing
from workflow.config.scoring import Scoring
from workflow.planning.paths import FIGURE_FORMATS, TABLE_FORMATS
from workflow.report.html import html
from workflow.report.latex import latex
from workflow.report.markdown import markdown
from workflow.report.svg import panel_boxes
from workflow.studies.study_kind import StudyKind

# Metadata without dates and versions, so that figures of the same rows have the same bytes.
METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


def write_tables(
    name: str, kind: StudyKind, study: pd.DataFrame, scoring: Scoring, preset: str, folder: Path
) -> None:
    """Write `<study>.<table>.<format>` for every table of a study, in `TABLE_FORMATS`.

    Args:
        preset: Name of the configuration, which the tables show.
    """
    for table_name in kind.tables:
        table = kind.table(table_name, study, scoring)
        stem = f"{name}.{table_name}"
        label = stem.replace("_", "-").replace(".", "-")
        title = f"{kind.title} Study {name}, {table_name.replace('_', ' ')}"
        contents = {
            "csv": table.tidy.to_csv(index=False),
            "md": markdown(table, preset),
            "tex": latex(table, label, preset),
            "html": html(table, title, preset),
        }
        for ending in TABLE_FORMATS:
            with replacing(folder / f"{stem}.{ending}") as partial:
                partial.write_text(contents[ending], encoding="utf-8")


def write_figures(
    name: str, kind: StudyKind, study: pd.DataFrame, scoring: Scoring, folder: Path
) -> None:
    """Write `<study>.<figure>.<format>` for every figure of a study, in `FIGURE_FORMATS`."""
    from matplotlib.pyplot import close

    for figure_name in kind.figures:
        figure = kind.figure(figure_name, study, scoring)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once for all formats
        for ending in FIGURE_FORMATS:
            with replacing(folder / f"{name}.{figure_name}.{ending}") as partial:
                metadata = {**METADATA[ending]}
                if ending == "svg":
                    metadata["Description"] = panel_boxes(figure)
                figure.savefig(partial, format=ending, metadata=metadata)
        close(figure)
