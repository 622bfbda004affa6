"""The loop of every training: updates, evaluations, best weights, checkpoints, progress."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from npt.nn.checkpoint import Checkpoint, written_when_terminated
from npt.nn.progress import Progress
from npt.seeding import isolated_randomness


class Training(ABC):
    """The training of a network of one or more members, each with best weights of its own.

    A subclass has the network's update and evaluation. Random numbers of an update depend on its
    number alone.

    Attributes:
        model: The network.
        optimiser: What moves the weights; `state()` has the tensors that later updates depend on.
        last: Number of the last update.
        seed: Seed of the random numbers.
        tensors: What it is trained on.
        updates: Number of updates that were done.
        losses: Validation loss (K,) of each member, by default the lowest; infinite before the
            first evaluation.
        best_updates: Updates (K,) that these came from.
        earlier_seconds: Time before an interruption.
        is_finished: Whether an evaluation has ended the training early.
    """

    model: Any
    optimiser: Any

    def __init__(
        self,
        model: Any,
        optimiser: Any,
        last: int,
        seed: int = 0,
        tensors: Sequence[Tensor] = (),
        members: int = 1,
    ) -> None:
        self.model = model
        self.optimiser = optimiser
        self.last = last
        self.seed = seed
        self.tensors = tensors
        self.updates = 0
        self.losses = torch.full((members,), math.inf, dtype=torch.float64)
        self.best_updates = [0] * members
        self.best_weights = [weight.clone() for weight in self.weights()]
        self.earlier_seconds = 0.0
        self.is_finished = False
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Time of the training, that before an interruption included."""
        return self.earlier_seconds + time.monotonic() - self._started

    @abstractmethod
    def update(self, number: int) -> float | Tensor:
        """Do update `number` = 1 .. T and return its loss."""

    @abstractmethod
    def evaluate(self, number: int, loss: float | Tensor) -> Mapping[str, float] | None:
        """What is known after an update with this loss; None where no evaluation is due."""

    def weights(self) -> list[Tensor]:
        """Weights, and buffers such as the statistics of batch normalisation."""
        return list(self.model.state_dict().values())

    def evaluated_weights(self) -> list[Tensor]:
        """The weights that are evaluated, and kept if they are the best."""
        return self.weights()

    def offer(self, losses: Sequence[float]) -> None:
        """Keep the evaluated weights of members whose loss is their lowest so far."""
        offered = torch.tensor(losses, dtype=torch.float64)
        improved = offered < self.losses
        self.losses = torch.where(improved, offered, self.losses)
        self.keep(improved.nonzero().flatten().tolist())

    def keep(self, members: Sequence[int]) -> None:
        """Keep the evaluated weights of some members."""
        for member in members:
            self.best_updates[member] = self.updates
        if len(members) == len(self.best_updates):
            _copy(self.evaluated_weights(), self.best_weights)
        elif members:
            for best, weight in zip(self.best_weights, self.evaluated_weights(), strict=True):
                best[members] = weight[members]

    def state(self) -> dict[str, list[Tensor]]:
        """Tensors that the next updates depend on, by name; a resumed training writes into them."""
        return {
            "weights": self.weights(),
            "best": self.best_weights,
            "losses": [self.losses],
            **self.optimiser.state(),
        }

    def run(
        self,
        *,
        checkpoint: Checkpoint | None = None,
        metrics: Path | None = None,
        visible: bool | None = None,
    ) -> Self:
        """Do the updates that are left; the model ends with the weights that `keep` kept.

        Args:
            checkpoint: Read at the start and written at intervals. A resumed training ends with
                bit-identical weights.
            metrics: Path of a CSV with a row for every evaluation.
            visible: Whether the terminal shows the progress; None: where standard error is one.
        """
        saved = checkpoint.read() if checkpoint else None
        if saved is not None:
            self.updates = saved["updates"]
            self.best_updates = list(saved["best_updates"])
            self.earlier_seconds = saved["seconds"]
            for name, tensors in self.state().items():
                _copy(saved[name], tensors)
        weight = next(self.model.parameters())
        progress = Progress(self.last, self.updates, metrics, visible)
        with (
            torch.cuda.device_of(weight),  # whose generator an update seeds
            isolated_randomness(weight.device),
            progress.bar,
            written_when_terminated(checkpoint),
        ):
            for number in range(self.updates + 1, self.last + 1):
                loss = self.update(number)
                self.updates = number
                progress.bar.update()
                row = self.evaluate(number, loss)
                if row is not None:
                    progress.evaluated({**row, "seconds": round(self.seconds, 3)})
                if checkpoint and checkpoint.due():
                    done = self.last if self.is_finished else number  # none is left
                    counts = {"updates": done, "best_updates": self.best_updates}
                    checkpoint.write({**counts, "seconds": self.seconds, **self.state()})
                if self.is_finished:
                    break
        _copy(self.best_weights, self.weights())
        self.model.train()  # where GPyTorch forgets what it has computed from the last weights
        self.model.eval()
        return self


@torch.no_grad()
def _copy(sources: Sequence[Tensor], targets: Sequence[Tensor]) -> None:
    torch._foreach_copy_(list(targets), list(sources))
