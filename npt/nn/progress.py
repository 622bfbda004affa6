"""Progress of a training: a line on the terminal, and a CSV of its metrics."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

# The validation metric is the accuracy, or the root mean square error of the standardised target.
FIELDS: Sequence[str] = (
    "update",
    "learning_rate",
    "tradeoff",
    "train_loss",
    "validation_loss",
    "validation_metric",
    "best_validation_loss",
    "seconds",
)
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
        fields: Columns of the CSV, of which the last is the seconds.
        visible: Whether there is a line on the terminal; None if standard error is one.
    """

    def __init__(
        self,
        updates: int,
        done: int = 0,
        metrics: Path | None = None,
        fields: Sequence[str] = FIELDS,
        visible: bool | None = None,
    ) -> None:
        self.metrics = metrics
        self.fields = fields
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
            self.earlier_seconds = _resume(metrics, done, fields)

    def updated(self) -> None:
        """Count one update."""
        self.bar.update()

    def evaluated(self, row: Mapping[str, float]) -> None:
        """Show an evaluation: a row of the fields without the seconds."""
        self.bar.set_postfix({name: f"{row[name]:.4g}" for name in ON_TERMINAL if name in row})
        if self.metrics:
            seconds = self.earlier_seconds + time.monotonic() - self.started
            with self.metrics.open("a", newline="") as stream:
                writer = csv.DictWriter(stream, self.fields)
                writer.writerow({**row, "seconds": round(seconds, 3)})

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.bar.close()


def _resume(path: Path, done: int, fields: Sequence[str]) -> float:
    """Keep the whole rows of the first `done` updates, or begin the file; returns their seconds."""
    rows = []
    if done and path.exists():
        with path.open(newline="") as stream:
            for row in csv.DictReader(stream):
                is_whole = all(row.get(name) for name in fields) and row["update"].isdecimal()
                if is_whole and int(row["update"]) <= done:
                    rows.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, fields)
        writer.writeheader()
        writer.writerows(rows)
    return float(rows[-1]["seconds"]) if rows else 0.0
