"""The rows of a study as one CSV file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

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
    frame = pd.DataFrame(study_columns(tuple(rows), study), dtype=object)
    with replacing(path) as partial:
        frame.to_csv(partial, index=False)


def study_columns(rows: Sequence[Row], study: str) -> dict[str, list[Any]]:
    """Cells of every column; those of `Row` first, then the extra ones."""
    given: set[str] = set()
    extra: dict[str, None] = {}  # an ordered set
    for row in rows:
        given |= row.model_fields_set
        extra |= dict.fromkeys(row.model_extra or ())
    columns: dict[str, list[Any]] = {"study": [study] * len(rows)}
    for name in Row.model_fields:
        if name in given:
            columns[name] = [_cell(getattr(row, name)) for row in rows]
    for name in extra:
        columns[name] = [_cell((row.model_extra or {}).get(name)) for row in rows]
    return columns


def _cell(value: Any) -> Any:
    """A nested value as JSON."""
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value


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
