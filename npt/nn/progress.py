"""Progress of a training: a line on the terminal, and a CSV of its metrics."""

from __future__ import annotations

import csv
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

    Attributes:
        bar: The line, a context that leaves the terminal as it was.
    """

    def __init__(
        self,
        updates: int,
        done: int,
        metrics: Path | None,
        visible: bool | None,
    ) -> None:
        self.metrics = metrics
        self.bar = tqdm(
            total=updates,
            initial=done,
            disable=None if visible is None else not visible,
            unit="update",
            dynamic_ncols=True,
        )
        if metrics:
            _resume(metrics, done)

    def evaluated(self, row: Mapping[str, float]) -> None:
        """Show an evaluation: a row of the CSV."""
        self.bar.set_postfix({name: f"{row[name]:.4g}" for name in ON_TERMINAL if name in row})
        if self.metrics:
            _append(self.metrics, [row])


def _resume(path: Path, done: int) -> None:
    """Keep the whole rows of the first `done` updates, or remove all."""
    rows = []
    if done and path.exists():
        with path.open(newline="") as stream:
            for row in csv.DictReader(stream):
                is_whole = all(row.values()) and row["update"].isdecimal()
                if is_whole and int(row["update"]) <= done:
                    rows.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if rows:
        _append(path, rows)


def _append(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows behind those of a CSV, or behind the names of their columns."""
    is_new = not path.exists()
    with path.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        if is_new:
            writer.writeheader()
        writer.writerows(rows)
