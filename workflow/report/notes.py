"""Notes below tables that explain what is missing in them."""

from __future__ import annotations

import pandas as pd

from workflow.report.cells import DASH
from workflow.report.titles import dataset_title, method_title


def failure_notes(frame: pd.DataFrame) -> tuple[str, ...]:
    """Reasons of missing results, and the meaning of a star, for a frame with a row per model."""
    notes = []
    for row in frame.to_dict("records"):
        if row["reason"]:
            title = method_title(row["method"], row["variant"])
            notes.append(f"{DASH} {title} on {dataset_title(row['dataset'])}: {row['reason']}")
    titles = [dataset_title(name) for name in frame["dataset"]]
    if any(title.endswith("*") for title in titles):
        notes.append("\\* not one of the paper's ten datasets")
    return tuple(notes)
