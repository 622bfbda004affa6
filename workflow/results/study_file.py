"""The rows of a study as one CSV file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from npt.atomic import replacing
from workflow.results.row import Row

# Columns whose values may look like numbers.
TEXT = (
    "study",
    "dataset",
    "task",
    "method",
    "variant",
    "preset",
    "fingerprint",
    "data",
    "splits",
    "revision",
    "status",
    "reason",
    "source",
)


def study_frame(rows: Iterable[Row], study: str) -> pd.DataFrame:
    """One line per row, nested values as JSON; the columns of `Row` first, then the extra ones."""
    frame = pd.DataFrame([_flat(row) for row in rows])
    columns = [name for name in Row.model_fields if name in frame]
    columns += [name for name in frame if name not in Row.model_fields]
    frame = frame[columns]
    frame.insert(0, "study", study)
    return frame


def write_study(path: Path, rows: Iterable[Row], study: str) -> None:
    """Write the rows of a study."""
    frame = study_frame(rows, study)
    with replacing(path) as partial:
        frame.to_csv(partial, index=False)


def read_study(path: Path) -> pd.DataFrame:
    """Read a collected study; only empty cells are missing, so that a reason "NA" is kept."""
    columns = pd.read_csv(path, nrows=0).columns
    return pd.read_csv(
        path,
        keep_default_na=False,
        na_values=[""],
        dtype={name: str for name in columns if name in TEXT},
    )


def _flat(row: Row) -> dict[str, Any]:
    values = row.values()
    for name, value in values.items():
        if isinstance(value, dict):
            values[name] = json.dumps(value, sort_keys=True)
    return values
