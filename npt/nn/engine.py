"""The loop of every training: updates, evaluations, checkpoints, and what shows the progress."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import torch

from npt.nn.checkpoint import Checkpoint, written_when_terminated
from npt.nn.progress import FollowTraining, Progress
from npt.seeding import isolated_randomness


class TrainingState(ABC):
    """All that the updates after `update` depend on; random numbers depend on the update alone.

    Attributes:
        update: Number of updates that were done.
        earlier_seconds: Time before an interruption.
        is_finished: Whether an evaluation has ended the training early.
    """

    def __init__(self) -> None:
        self.update = 0
        self.earlier_seconds = 0.0
        self.is_finished = False
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Time of the training, that before an interruption included."""
        return self.earlier_seconds + time.monotonic() - self._started

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Tensors and numbers by name, besides the update and the seconds."""

    @abstractmethod
    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `to_dict` returned; the update is set before."""


def run(
    state: TrainingState,
    updates: int,
    update: Callable[[int], float | torch.Tensor],
    evaluate: Callable[[int, float | torch.Tensor], Mapping[str, float] | None],
    device: torch.device,
    fields: Sequence[str],
    *,
    checkpoint: Checkpoint | None = None,
    metrics: Path | None = None,
    follow: FollowTraining = Progress,
) -> None:
    """Do the updates that are left.

    Args:
        updates: Number of the last update.
        update: Does an update, given its number 1 .. T, and returns its loss.
        evaluate: Returns what is known after an update, given its number and its loss, by
            `fields`; None where no evaluation is due.
        checkpoint: Read at the start and written at intervals. A resumed training ends with
            bit-identical weights.
        metrics: Path of a CSV with a row for every evaluation.
        follow: Makes what shows the progress.
    """
    saved = checkpoint.read() if checkpoint else None
    if saved is not None:
        state.update = saved["update"]
        state.earlier_seconds = saved["seconds"]
        state.restore(saved)
    progress = follow(updates, state.update, metrics, fields)
    with isolated_randomness(device), closing(progress), written_when_terminated(checkpoint):
        for number in range(state.update + 1, updates + 1):
            loss = update(number)
            state.update = number
            progress.updated()
            row = evaluate(number, loss)
            if row is not None:
                progress.evaluated(row)
            if state.is_finished:
                break
            if checkpoint and number < updates and checkpoint.due():
                seconds = {"update": number, "seconds": state.seconds}
                checkpoint.write({**seconds, **state.to_dict()})
