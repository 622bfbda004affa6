"""Requirements of rows: settings, data and query must be those of the plan."""

from __future__ import annotations

from pathlib import Path

from baselines import methods
from npt.data.store import Prepared
from npt.errors import UserError
from workflow.planning.planned_study import PlannedStudy
from workflow.planning.run import Run
from workflow.results.job import data_hashes
from workflow.results.row import Row
from workflow.studies import kinds


def require_settings(row: Row, run: Run, path: Path) -> None:
    """Raise `UserError` for a row of other settings or of another declaration of the dataset."""
    if row.fingerprint == run.fingerprint:
        return
    hashes = f"{row.fingerprint}, here {run.fingerprint}"
    raise UserError(f"{path}: fingerprint: of other settings or data ({hashes})")


def require_data(row: Row, prepared: Prepared, path: Path | str) -> None:
    """Raise `UserError` for a row of other data, and for a failure without a reason."""
    here = {"task": prepared.table.task, **data_hashes(prepared)}
    for column, value in here.items():
        recorded = getattr(row, column)
        if recorded != value:
            raise UserError(f"{path}: {column}: of other data ({recorded}, here {value})")
    if row.status != "ok" and not row.reason:
        raise UserError(f"{path}: reason: fold {row.fold} is {row.status} without a reason")


def require_probe_version(row: Row, study: PlannedStudy, path: Path) -> None:
    """Raise `UserError` for a row of another version of the probe."""
    here = f"{methods()[row.method].version}.{kinds()[study.kind].version}"
    if row.revision != here:
        raise UserError(f"{path}: revision: of another version ({row.revision}, here {here})")


def require_query(row: Row, study: PlannedStudy, prepared: Prepared, path: Path) -> None:
    """Raise `UserError` for a row of a probe with other options or another number of rows."""
    if row.status != "ok":
        return
    rows = len(prepared.splits[row.fold].test)
    if study.max_test_rows is not None:
        rows = min(rows, study.max_test_rows)
    planned = {"options": study.options, "rows": rows}
    for column, value in planned.items():
        if row.facts.get(column) != value:
            raise UserError(f"{path}: {column}: of an earlier probe")
