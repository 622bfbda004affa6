"""The rows of a study as one CSV file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from npt.atomic import write_text
from npt.checksum import checksum
from npt.errors import UserError
from npt.table import Task
from workflow.config.models import Study
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.results.row import Row, Status, remedy

CHECKSUM = "crc32_"  # begins the name of the last column, which is empty; the file's follows
UNSET = "00000000"
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how cells begin that a spreadsheet computes
TEXT_TYPES = (str, Status, Task)
# Columns whose values may look like numbers.
TEXT = ["study"]
TEXT += [name for name, field in Row.model_fields.items() if field.annotation in TEXT_TYPES]


def write_study(path: Path, rows: Sequence[Row], study: str) -> None:
    """Write the rows of a study; missing values and those that are no number are empty cells."""
    frame = study_frame(rows, study)
    text = frame.assign(**{CHECKSUM + UNSET: None}).to_csv(index=False)
    write_text(path, text.replace(CHECKSUM + UNSET, CHECKSUM + checksum(text), 1))


def study_frame(rows: Sequence[Row], study: str) -> pd.DataFrame:
    """Rows with the columns that some row has; those of `Row` first. Nested values are JSON."""
    columns = set[str]().union(*(row.values() for row in rows))
    frame = pd.DataFrame([row.model_dump() for row in rows], dtype=object)
    frame = frame[[name for name in frame if name in columns]]
    frame = frame.map(_cell)
    frame.insert(0, "study", study)
    return frame


def _cell(value: Any) -> Any:
    """A nested value as JSON, and text that a spreadsheet would compute quoted."""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value


def read_study(path: Path) -> pd.DataFrame:
    """Read a collected study; only empty cells are missing, so that a reason "NA" is kept.

    Raises:
        UserError: It is damaged.
    """
    types = dict.fromkeys(TEXT, str)
    try:
        text = path.read_bytes().decode()
        last_column = text.partition("\n")[0].rpartition(",")[2]
        has_checksum = last_column.startswith(CHECKSUM)
        unset = text.replace(last_column, CHECKSUM + UNSET, 1)
        if has_checksum and last_column != CHECKSUM + checksum(unset):
            raise ValueError("its content has another checksum")
        frame = pd.read_csv(StringIO(text), keep_default_na=False, na_values=[""], dtype=types)
    except ValueError as error:
        raise UserError(f"{path}: damaged ({error})") from None
    frame = frame.copy()  # a block for each type instead of each column
    return frame.drop(columns=last_column) if has_checksum else frame


def read_planned(study: Study, plan: Plan) -> pd.DataFrame:
    """Read the collected rows of a study of the plan.

    Raises:
        UserError: They are damaged, or not those of the plan.
    """
    path = paths.collected(study.name)
    try:
        frame = read_study(path)
        here = frame[frame["source"].isna()] if "source" in frame else frame
        keys = here.reindex(columns=["dataset", "method", "variant", "seed", "fold"])
        planned = []
        for run in plan.runs_of(study):
            training = (run.dataset, run.method, run.variant, run.seed)
            planned += [(*training, fold) for fold in study.runs[run.stem]]
        if list(keys.itertuples(index=False, name=None)) != planned:
            raise UserError(f"{path}: its rows are not those of the plan")
    except UserError as error:
        raise UserError(f"{error}; {remedy(path)}") from None
    return frame
