"""Rows of one method must be of one revision of the code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from baselines import methods
from workflow.planning import paths
from workflow.planning.external_runs import is_csv
from workflow.planning.revision import revision
from workflow.results.row import UNFINISHED, Row

ALLOW = "--allow-mixed-revisions"


def mixed_revisions(rows: Iterable[Row]) -> list[str]:
    """One message per method whose rows are of different code, or external and of other code."""
    other_revisions: dict[str, None] = {}  # an ordered set
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.status == UNFINISHED:
            continue
        message = _other_revision(row)
        if message:
            other_revisions[message] = None
        else:
            counts[row.method][row.revision] += 1
    messages = list(other_revisions)
    for method, revisions in counts.items():
        if len(revisions) > 1:
            listed = ", ".join(f"{name} ({count} rows)" for name, count in revisions.items())
            runs = paths.runs_of_method(method)
            probes = paths.probes_of_method(method)
            messages.append(
                f"{method}: rows of different code revisions: {listed}; "
                f"remove {runs} and {probes}, or collect with {ALLOW}"
            )
    return messages


def _other_revision(row: Row) -> str:
    """Message about a row of another machine and of other code than here; empty for other rows.

    The rows of a collected study are of the code of their time, which they name.
    """
    if not row.source or is_csv(row.source) or row.method not in methods():
        return ""
    here = revision(methods()[row.method])
    if row.revision == here:
        return ""
    revisions = f"{row.method} is of revision {row.revision}, here {here}"
    return f"{row.source}: {revisions}; collect with {ALLOW}"
