"""What a training tells while it runs: a line on the terminal, a CSV of its metrics, and trackers where they are asked for."""

from __future__ import annotations

import csv
import importlib
import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from npt.interface import UserError

# The validation metric is the accuracy, or the root mean square error of the standardised target.
FIELDS: Sequence[str] = (
    "update", "learning_rate", "tradeoff", "train_loss", "validation_loss", "validation_metric",
    "best_validation_loss", "seconds",
)  # fmt: skip
TRACKERS = "NPT_TRACKERS"


class Progress:
    """Follows one training of `updates` updates from the update `done`.

    The terminal line (updates a second, losses, time left) is shown where standard error is one. `metrics` is a CSV with a
    row for every evaluation, continued after an interruption. The environment variable NPT_TRACKERS names trackers that
    receive the same rows: `tensorboard`, `wandb`, or both with a comma.
    """

    def __init__(
        self, updates: int, done: int = 0, metrics: Path | None = None, *, silent: bool = False
    ) -> None:
        self.metrics, self.started = metrics, time.monotonic()
        hidden = silent or not sys.stderr.isatty()
        self.bar = tqdm(
            total=updates, initial=done, disable=hidden, unit="update", dynamic_ncols=True
        )
        wanted = "" if silent else os.environ.get(TRACKERS, "")
        self.trackers = [
            _tracker(name, metrics) for name in map(str.strip, wanted.split(",")) if name
        ]
        if metrics:
            self.before = _cut(metrics, done)

    def updated(self) -> None:
        """One update more."""
        self.bar.update()

    def evaluated(self, row: Mapping[str, float]) -> None:
        """An evaluation: its FIELDS, without the seconds."""
        if self.metrics is None and not self.trackers and self.bar.disable:
            return
        seconds = time.monotonic() - self.started
        shown = {name: row[name] for name in FIELDS[3:6]}
        self.bar.set_postfix({name: f"{value:.4g}" for name, value in shown.items()})
        if self.metrics:
            with self.metrics.open("a", newline="") as stream:
                csv.DictWriter(stream, FIELDS).writerow(
                    {**row, "seconds": round(self.before + seconds, 3)}
                )
        for tracker in self.trackers:
            tracker.write(
                int(row["update"]),
                {name: value for name, value in row.items() if math.isfinite(value)},
            )

    def close(self) -> None:
        """Leave the terminal as it was, and end the trackers."""
        self.bar.close()
        for tracker in self.trackers:
            tracker.close()


def _cut(path: Path, done: int) -> float:
    """Keep the rows of the updates that are done, or begin the file; the seconds they took."""
    rows: list[dict[str, str]] = []
    if done and path.exists():
        with path.open(newline="") as stream:
            rows = [
                row for row in csv.DictReader(stream) if _whole(row) and int(row["update"]) <= done
            ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    return float(rows[-1]["seconds"]) if rows else 0.0


def _whole(row: Mapping[str, str | None]) -> bool:
    """Whether a row was written to its end."""
    return all(row.get(name) for name in FIELDS) and str(row["update"]).isdecimal()


def _tracker(name: str, metrics: Path | None) -> Tracker:
    """What sends the rows of an evaluation to a tracker.

    Raises:
        UserError: there is no such tracker, or its package is missing.
    """
    trackers = {
        "tensorboard": ("torch.utils.tensorboard", TensorBoard),
        "wandb": ("wandb", WeightsAndBiases),
    }
    if name not in trackers:
        raise UserError(f"{TRACKERS}: {name!r} is unknown; allowed: {', '.join(trackers)}")
    module, start = trackers[name]
    try:
        package = importlib.import_module(module)
    except ImportError:
        raise UserError(
            f"{TRACKERS}: {name} is not installed; pip install 'npt-benchmark[{name}]'"
        ) from None
    return start(
        package,
        metrics.with_name(metrics.name.removesuffix(".metrics.csv"))
        if metrics
        else Path("training"),
    )


class TensorBoard:
    """Rows as scalars in a folder beside the metrics."""

    def __init__(self, package: Any, place: Path) -> None:
        self.writer = package.SummaryWriter(place.with_name(f"{place.name}.tensorboard"))

    def write(self, update: int, row: Mapping[str, float]) -> None:
        """One row."""
        for field, value in row.items():
            self.writer.add_scalar(field, value, update)
        self.writer.flush()

    def close(self) -> None:
        """End the file."""
        self.writer.close()


class WeightsAndBiases:
    """Rows of a run that is named as the metrics are."""

    def __init__(self, package: Any, place: Path) -> None:
        self.run = package.init(
            project="npt-benchmark", name=place.as_posix(), dir=place.parent, reinit="create_new"
        )

    def write(self, update: int, row: Mapping[str, float]) -> None:
        """One row."""
        self.run.log(dict(row), step=update)

    def close(self) -> None:
        """End the run."""
        self.run.finish()


Tracker = TensorBoard | WeightsAndBiases
