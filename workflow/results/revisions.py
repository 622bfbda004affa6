"""Rows of one method must be of one revision of the code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from baselines import methods
from workflow.planning.revision import revision
from workflow.results.row import UNFINISHED, Row


def mixed_revisions(rows: Iterable[Row]) -> list[str]:
    """One message per method whose rows are of different code, or external and of other code."""
    finished = [row for row in rows if row.status != UNFINISHED]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in finished:
        counts[row.method][row.revision] += 1
    messages = []
    for method, revisions in counts.items():
        if len(revisions) > 1:
            listed = ", ".join(f"{name} ({count} rows)" for name, count in revisions.items())
            messages.append(
                f"{method}: rows of different code revisions: {listed}; remove "
                f"results/runs/*/{method} and results/probes/*/*/{method}, or collect with "
                "--allow-mixed-revisions"
            )
    return [*messages, *_other_revisions(finished)]


def _other_revisions(rows: Iterable[Row]) -> list[str]:
    messages: dict[str, None] = {}
    for row in rows:
        if not row.source or row.method not in methods():
            continue
        here = revision(methods()[row.method])
        if row.revision != here:
            message = f"{row.source}: {row.method} is of revision {row.revision}, here {here}"
            messages[message] = None
    return list(messages)
