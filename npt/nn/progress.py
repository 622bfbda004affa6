"""Progress of a training: a line on the terminal, and a CSV of its metrics."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

ON_TERMINAL = (
    "train_loss",
    "validation_loss",
    "validation_metric",
    "train_objective",
    "target_log_likelihood",
)


class Progress:
    """Follows one training.

    The line on the terminal shows updates a second, losses and the time left, if standard error is
    a terminal.

    Args:
        updates: Updates of the whole training.
        done: Updates before an interruption.
        metrics: Path of a CSV with a row for every evaluation, continued after an interruption.
        visible: Whether there is a line on the terminal; None: where standard error is one.
    """

    def __init__(
        self,
        updates: int,
        done: int,
        metrics: Path | None,
        visible: bool | None,
    ) -> None:
        self.metrics = metrics
        self.started = time.monotonic()
        self.earlier_seconds = 0.0
        self.bar = tqdm(
            total=updates,
            initial=done,
            disable=not (sys.stderr.isatty() if visible is None else visible),
            unit="update",
            dynamic_ncols=True,
        )
        if metrics:
            self.earlier_seconds = _resume(metrics, done)

    def updated(self) -> None:
        """Count one update."""
        self.bar.update()

    def evaluated(self, row: Mapping[str, float]) -> None:
        """Show an evaluation: a row of the CSV without the seconds."""
        self.bar.set_postfix({name: f"{row[name]:.4g}" for name in ON_TERMINAL if name in row})
        if self.metrics:
            seconds = self.earlier_seconds + time.monotonic() - self.started
            _append(self.metrics, [{**row, "seconds": round(seconds, 3)}])

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.bar.close()


def _resume(path: Path, done: int) -> float:
    """Keep the whole rows of the first `done` updates and return their seconds; else remove all."""
    rows = []
    if done and path.exists():
        with path.open(newline="") as stream:
            for row in csv.DictReader(stream):
                is_whole = all(row.values()) and row["update"].isdecimal()
                if is_whole and int(row["update"]) <= done:
                    rows.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if not rows:
        return 0.0
    _append(path, rows)
    return float(rows[-1]["seconds"])


def _append(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows behind those of a CSV, or behind the names of their columns."""
    is_new = not path.exists()
    with path.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        if is_new:
            writer.writeheader()
        writer.writerows(rows)
