"""Files of a study's tables and figures; the same rows give the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from npt.atomic import replacing, write_text
from workflow.config.scoring import Scoring
from workflow.presentation.sections import View
from workflow.report.formats import latex_table

# Metadata without dates, so that figures of the same rows have the same bytes.
METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


def write_tables(folder: Path, view: View, study: pd.DataFrame, scoring: Scoring) -> None:
    """Write `<table>.csv` in full precision, and `.tex` as a reader sees it.

    A table without sections has the same columns in both.

    Args:
        folder: Has the name of the study.
    """
    for name in view.tables:
        table = view.table(name, study, scoring)
        label = f"{folder.name}-{name}".replace("_", "-")
        parts = ["% Needs \\usepackage{booktabs}\n"]
        for number, section in enumerate(table.sections, 1):
            parts.append(latex_table(section, f"tab:{label}-{number}"))
        if not table.sections:
            parts.append(table.tidy.to_latex(index=False, escape=True, float_format="%.4g"))
        with replacing(folder / f"{name}.csv") as partial:
            table.tidy.to_csv(partial, index=False)
        write_text(folder / f"{name}.tex", "\n".join(parts))


def write_figures(folder: Path, view: View, study: pd.DataFrame, scoring: Scoring) -> None:
    """Write `<figure>.<format>` for every figure of a study; a folder for those without."""
    from matplotlib.pyplot import close

    folder.mkdir(parents=True, exist_ok=True)
    for name in view.figures:
        figure = view.figure(name, study, scoring)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once for all formats
        for ending in METADATA:
            with replacing(folder / f"{name}.{ending}") as partial:
                figure.savefig(partial, format=ending, metadata=METADATA[ending])
        close(figure)
