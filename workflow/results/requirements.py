"""Requirements of rows: settings, data and query must be those of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from baselines import methods
from npt.data.store import Prepared
from npt.errors import UserError
from workflow.config.study import Study
from workflow.results.job import data_hashes
from workflow.results.row import Row


def require(row: Row, planned: Mapping[str, Any], path: Path | str) -> None:
    """Raise `UserError` for a row with another value, and for a failure without a reason."""
    for column, value in planned.items():
        recorded = getattr(row, column, None)
        if recorded != value:
            raise UserError(f"{path}: {column}: {recorded}, planned {value}")
    if row.status != "ok" and not row.reason:
        raise UserError(f"{path}: reason: fold {row.fold} is {row.status} without a reason")


def planned_data(prepared: Prepared) -> dict[str, str]:
    """Columns of the rows of a dataset."""
    return {"task": prepared.table.task, **data_hashes(prepared)}


def planned_probe(row: Row, study: Study, prepared: Prepared) -> dict[str, Any]:
    """Columns of a row of a probe: its version, and its query if it gave a result."""
    version = f"{methods()[row.method].version}.{study.declaration.version}"
    if row.status != "ok":
        return {"revision": version}
    rows = len(prepared.splits[row.fold].test)
    if study.max_test_rows is not None:
        rows = min(rows, study.max_test_rows)
    return {"revision": version, "options": study.options, "rows": rows}
