"""The rows of a study as one CSV file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from npt.atomic import replacing
from npt.errors import UserError
from npt.table import Task
from workflow.config.study import Study
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.results.row import Row, Status
from workflow.results.row_file import remedy

CHECKSUM = "crc32_"  # begins the name of an empty column of earlier versions
TEXT_TYPES = (str, Status, Task)
# Columns whose values may look like numbers.
TEXT = ["study"]
TEXT += [name for name, field in Row.model_fields.items() if field.annotation in TEXT_TYPES]


def write_study(path: Path, rows: Iterable[Row], study: str) -> None:
    """Write the rows of a study; missing values and those that are no number are empty cells."""
    frame = study_frame(tuple(rows), study)
    with replacing(path) as partial:
        frame.to_csv(partial, index=False)


def study_frame(rows: Sequence[Row], study: str) -> pd.DataFrame:
    """Rows with the columns that some row has; those of `Row` first. Nested values are JSON."""
    columns = set[str]().union(*(row.values() for row in rows))
    frame = pd.DataFrame([row.model_dump() for row in rows], dtype=object)
    frame = frame[[name for name in frame if name in columns]]
    frame = frame.map(
        lambda cell: json.dumps(cell, sort_keys=True) if isinstance(cell, dict) else cell
    )
    frame.insert(0, "study", study)
    return frame


def read_study(path: Path) -> pd.DataFrame:
    """Read a collected study; only empty cells are missing, so that a reason "NA" is kept.

    Raises:
        UserError: It is damaged.
    """
    types = dict.fromkeys(TEXT, str)
    try:
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types)
    except ValueError as error:
        raise UserError(f"{path}: damaged ({error})") from None
    return frame.loc[:, ~frame.columns.str.startswith(CHECKSUM)]


def read_planned(study: Study, plan: Plan) -> pd.DataFrame:
    """Read the collected rows of a study of the plan.

    Raises:
        UserError: They are damaged, or not those of the plan.
    """
    path = Path(paths.collected(study.name))
    try:
        frame = read_study(path)
        here = frame[frame["source"].isna()] if "source" in frame else frame
        keys = here.reindex(columns=["dataset", "method", "variant", "seed", "fold"])
        planned = [
            (run.dataset, run.method, run.variant, run.seed, fold)
            for run, fold in plan.rows_of(study)
        ]
        if list(keys.itertuples(index=False, name=None)) != planned:
            raise UserError(f"{path}: its rows are not those of the plan")
    except UserError as error:
        raise UserError(f"{error}; {remedy(path)}") from None
    return frame
