"""Compare the studies of a run with those of a reference."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npt.interface import UserError

IDENTITY = ("dataset", "method", "variant", "seed", "fold")
# Differ between machines, days and code.
VOLATILE = ("versions", "revision", "fingerprint", "device", "machine", "date", "metrics")
MEASURED = ("seconds", "memory")  # parts of the names of columns that are measurements

Cells = dict[str, str]
Identity = tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Differences between a study and its reference.

    Attributes:
        rows: Number of rows that both have.
        missing: Rows of the reference that the study lacks.
        additional: Rows that the reference lacks.
        columns: Number of rows that differ, by column.
    """

    study: str
    rows: int
    missing: tuple[Identity, ...]
    additional: tuple[Identity, ...]
    columns: dict[str, int]

    @property
    def different(self) -> list[str]:
        """Columns that differ and should not."""
        return [name for name in self.columns if not may_differ(name)]

    @property
    def equal(self) -> bool:
        """Whether the study has the rows of the reference, and only measurements differ."""
        return not (self.missing or self.additional or self.different)

    def lines(self) -> list[str]:
        """A summary, then a line for each difference that should not be."""
        listed = ", ".join(f"{name} ({count})" for name, count in self.columns.items())
        verdict = "equal" if self.equal else "DIFFERENT"
        lines = [f"{self.study}: {verdict}, {self.rows} rows; different: {listed or 'nothing'}"]
        lines += [f"    {name}: {self.columns[name]} rows" for name in self.different]
        lines += [f"    missing: {'/'.join(identity)}" for identity in self.missing]
        lines += [f"    additional: {'/'.join(identity)}" for identity in self.additional]
        return lines


def may_differ(column: str) -> bool:
    """Whether two runs of the same configuration may differ in a column."""
    return column in VOLATILE or any(part in column for part in MEASURED)


def compare_study(
    reference: Path, study: Path, excluded: Collection[str] = (), tolerance: float = 0.0
) -> Comparison:
    """Compare two collected studies, without the rows of the excluded methods.

    Args:
        tolerance: Relative and absolute difference up to which two numbers are equal.

    Raises:
        UserError: a file is missing, is no study, or has two rows of one identity.
    """
    expected = _rows_by_identity(reference, excluded)
    actual = _rows_by_identity(study, excluded)
    shared = [identity for identity in expected if identity in actual]
    columns: Counter[str] = Counter()
    for identity in shared:
        columns.update(_different(expected[identity], actual[identity], tolerance))
    return Comparison(
        study=reference.stem,
        rows=len(shared),
        missing=tuple(identity for identity in expected if identity not in actual),
        additional=tuple(identity for identity in actual if identity not in expected),
        columns=dict(columns),
    )


def _rows_by_identity(path: Path, excluded: Collection[str]) -> dict[Identity, Cells]:
    if not path.exists():
        raise UserError(f"{path}: no such file")
    csv.field_size_limit(2**31 - 1)
    rows: dict[Identity, Cells] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        for name in IDENTITY:
            if name not in (reader.fieldnames or ()):
                raise UserError(f"{path}: not a collected study: has no column {name!r}")
        for cells in reader:
            if cells["method"] in excluded:
                continue
            identity = tuple(cells[name] for name in IDENTITY)
            if identity in rows:
                raise UserError(f"{path}: {'/'.join(identity)} occurs twice")
            rows[identity] = cells
    return rows


def _different(expected: Cells, actual: Cells, tolerance: float) -> Iterable[str]:
    """Columns whose cells differ; a column that one side lacks is empty."""
    for name in dict.fromkeys((*expected, *actual)):
        before = expected.get(name, "")
        after = actual.get(name, "")
        if before == after:
            continue
        if not _same(_value(before), _value(after), tolerance):
            yield name


def _value(cell: str) -> Any:
    try:
        return json.loads(cell)
    except json.JSONDecodeError:
        return cell


def _same(expected: Any, actual: Any, tolerance: float) -> bool:
    """Whether two values, from JSON, are equal up to the tolerance of numbers."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys_agree = expected.keys() == actual.keys()
        return keys_agree and all(_same(expected[key], actual[key], tolerance) for key in expected)
    if isinstance(expected, list) and isinstance(actual, list):
        pairs = zip(expected, actual, strict=False)
        return len(expected) == len(actual) and all(_same(*pair, tolerance) for pair in pairs)
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return math.isclose(expected, actual, rel_tol=tolerance, abs_tol=tolerance)
    return expected == actual
