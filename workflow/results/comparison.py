"""Compare the studies of a run with those of a reference."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npt.interface import UserError
from npt.metrics import METRICS

IDENTITY = ("dataset", "method", "variant", "seed", "fold")
FACTS = ("data", "splits", "status")  # have to be equal, or scores cannot be compared
SMALLEST = 1e-9
TOLERANCE = 1e-3  # relative difference of scores that another processor may cause

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
        scores: Largest relative difference of a score beyond the tolerance, by method.
    """

    study: str
    rows: int
    missing: tuple[Identity, ...]
    additional: tuple[Identity, ...]
    columns: dict[str, int]
    scores: dict[str, float]

    @property
    def equal(self) -> bool:
        """Whether the study has the rows of the reference, on the same data, and its scores."""
        differ = any(name in self.columns for name in FACTS)
        return not (self.missing or self.additional or self.scores or differ)

    def lines(self) -> list[str]:
        """Columns that differ, then rows that one side lacks."""
        listed = ", ".join(f"{name} ({count})" for name, count in self.columns.items())
        lines = [f"{self.study}: {self.rows} rows; different: {listed or 'nothing'}"]
        lines += [f"    missing: {'/'.join(identity)}" for identity in self.missing]
        lines += [f"    additional: {'/'.join(identity)}" for identity in self.additional]
        return lines


def verdict(comparisons: Sequence[Comparison]) -> str:
    """Whether scores are equal, in a line: the methods whose scores differ, the largest first."""
    largest: dict[str, float] = {}
    for comparison in comparisons:
        for method, difference in comparison.scores.items():
            largest[method] = max(difference, largest.get(method, 0.0))
    order = sorted(largest, key=lambda method: -largest[method])
    clauses = []
    if order:
        differences = [f"{method} ({100 * largest[method]:.2g} %)" for method in order]
        clauses.append(f"scores equal but for {', '.join(differences)}")
    unmatched = sum(len(part.missing) + len(part.additional) for part in comparisons)
    if unmatched:
        clauses.append(f"{unmatched} rows on one side alone")
    for name in FACTS:
        count = sum(part.columns.get(name, 0) for part in comparisons)
        if count:
            clauses.append(f"{name} differs in {count} rows")
    return "; ".join(clauses) or "scores equal"


def is_score(column: str) -> bool:
    """Whether a column is a validation loss, or ends with the name of a metric."""
    return column == "validation_loss" or column.rpartition("_")[2] in METRICS


def compare_study(
    reference: Path, study: Path, excluded: Collection[str] = (), tolerance: float = TOLERANCE
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
    scores: dict[str, float] = {}
    for identity in shared:
        before = expected[identity]
        after = actual[identity]
        for name in _different(before, after, tolerance):
            columns[name] += 1
            if is_score(name):
                difference = _relative(before.get(name, ""), after.get(name, ""))
                method = before["method"]
                scores[method] = max(difference, scores.get(method, 0.0))
    return Comparison(
        study=reference.stem,
        rows=len(shared),
        missing=tuple(identity for identity in expected if identity not in actual),
        additional=tuple(identity for identity in actual if identity not in expected),
        columns=dict(columns),
        scores=scores,
    )


def _relative(before: str, after: str) -> float:
    """Relative difference of two numbers; infinite where one is missing."""
    try:
        reference, value = float(before), float(after)
    except ValueError:
        return math.inf
    return abs(value - reference) / max(abs(reference), SMALLEST)


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
        return math.isclose(expected, actual, rel_tol=tolerance, abs_tol=min(tolerance, SMALLEST))
    return expected == actual
