"""Progress of a fit: a bar, and a warning if it will take long."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from npt.nn.progress import FIELDS, Progress

LONG_FIT = 600.0  # seconds of a fit that deserves a warning
UNMEASURED = 1  # first updates, which also start threads and allocate memory
SHORTEST_MEASUREMENT = 3.0  # seconds of updates that an estimate needs
LONGEST_MEASUREMENT = 60.0  # after which the estimate is no news


class LongFitWarning(UserWarning):
    """A fit will probably take more than ten minutes."""


@dataclass(frozen=True)
class FollowFit:
    """Makes the progress of a fit's trainings.

    Attributes:
        visible: Whether there is a bar; None if standard error is a terminal.
        trainings: Trainings that the estimate counts; 0 for no warning.
    """

    visible: bool | None
    trainings: int

    def __call__(
        self,
        updates: int,
        done: int = 0,
        metrics: Path | None = None,
        fields: Sequence[str] = FIELDS,
    ) -> Progress:
        """The progress of a training of so many updates."""
        progress = FitProgress(updates, done, metrics, fields, self.visible)
        progress.remaining = updates * self.trainings
        return progress


class FitProgress(Progress):
    """Measures the first updates, and warns if all of them will take long.

    Attributes:
        remaining: Updates that are still to come, at most; 0 for no warning.
    """

    remaining = 0
    counted = 0
    began = 0.0

    def updated(self) -> None:
        """Count one update."""
        super().updated()
        self.counted += 1
        self.remaining -= 1
        if self.remaining > 0:
            self._estimate()

    def _estimate(self) -> None:
        now = time.monotonic()
        measured = self.counted - UNMEASURED
        if measured <= 0:
            self.began = now
            return
        seconds = now - self.began
        if seconds < SHORTEST_MEASUREMENT:
            return
        expected = seconds + self.remaining * seconds / measured
        if expected > LONG_FIT:
            minutes = round(expected / 60)
            warnings.warn(
                f"this fit may take up to {minutes} minutes, by the time of its first {measured} "
                "updates; fewer max_updates, members or rows, a smaller batch_size or "
                "context_size, or a larger n_jobs shorten it",
                LongFitWarning,
                stacklevel=2,
            )
        if expected > LONG_FIT or seconds > LONGEST_MEASUREMENT:
            self.remaining = 0
