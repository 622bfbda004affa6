"""The training loop: updates, validation passes, and the best weights by validation loss (paper Appendix C.5, E)."""

from __future__ import annotations

import math
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from npt.interface import Mode
from npt.nn import distributed
from npt.nn.batches import batch_count, largest_batch, partition
from npt.nn.checkpoint import Checkpoint
from npt.nn.column_layout import ColumnLayout
from npt.nn.device import arithmetic, arrange, autocast
from npt.nn.inputs import EncodedTable
from npt.nn.losses import label_loss, tradeoff, training_loss
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.optimiser import Lamb, Lookahead, learning_rate
from npt.nn.patches import augmented
from npt.nn.progress import Progress
from npt.nn.settings import NPTSettings
from npt.seeding import generator_for, isolated_randomness, seed_for


@dataclass(frozen=True)
class Trained:
    """The model with its best weights, their validation label loss, the update they come from, and the time it took.

    `earlier_seconds` were spent before an interruption.
    """

    model: NPT
    validation_loss: float
    update: int
    earlier_seconds: float = 0.0


@dataclass
class Best:
    """The weights with the lowest validation loss so far."""

    loss: float
    update: int
    weights: list[torch.Tensor]

    def offer(self, loss: float, update: int, parameters: list[nn.Parameter]) -> None:
        """Take the weights if their loss is lower."""
        if not loss < self.loss:
            return
        self.loss, self.update = loss, update
        if not self.weights:
            self.weights = [torch.empty_like(p) for p in parameters]
        torch._foreach_copy_(self.weights, [p.detach() for p in parameters])


def build_model(
    layout: ColumnLayout, settings: NPTSettings, seed: int, device: torch.device
) -> NPT:
    """A model with fresh weights, the same on every device."""
    with isolated_randomness(torch.device("cpu")):
        torch.default_generator.manual_seed(seed_for(seed, "weights"))
        return NPT(layout, settings).to(device)


def build_optimiser(model: NPT, settings: NPTSettings) -> Lookahead:
    """LAMB inside Lookahead over all parameters of the model."""
    inner = Lamb(model.parameters(), model.segments(), settings.clip)
    return Lookahead(inner, settings.lookahead_steps, settings.lookahead_share)


def train(
    model: NPT,
    data: EncodedTable,
    settings: NPTSettings,
    seed: int,
    *,
    checkpoint: Checkpoint | None = None,
    metrics: Path | None = None,
) -> Trained:
    """Train for `settings.updates` updates and return the weights with the lowest validation label loss.

    A `checkpoint` of the same training is taken up, and written at intervals; the result is that of an uninterrupted run to
    the last bit. `metrics` is the path of a CSV with a row for every evaluation.
    """
    device, count = data.codes.device, batch_count(data, "train", settings)
    optimiser, best = build_optimiser(model, settings), Best(math.inf, 0, [])
    done, earlier, started = *_restore(checkpoint, optimiser, best), time.monotonic()
    arrange(model, largest_batch(data, settings), settings, device)
    wrapped, steps = distributed.averaging(model), -(-count // distributed.processes())
    chief = distributed.rank() == 0
    progress = Progress(settings.updates, done, metrics if chief else None, silent=not chief)
    batches: list[torch.Tensor] = []
    with isolated_randomness(device), arithmetic(settings, device), closing(progress):
        for number in range(done + 1, settings.updates + 1):
            epoch, place = divmod(number - 1, steps)
            if place == 0 or not batches:
                batches = partition(
                    data, "train", settings, generator_for(seed, "batches", device, epoch)
                )
            rows = batches[(place * distributed.processes() + distributed.rank()) % count]
            loss = update(wrapped, optimiser, data.take(rows), number, settings, seed)
            progress.updated()
            if number == settings.updates or (
                place == steps - 1 and (epoch + 1) % settings.evaluate_every == 0
            ):
                validation, metric = label_scores(model, data, "validation", settings, seed, number)
                best.offer(validation, number, optimiser.optimiser.parameters)
                progress.evaluated({
                    "update": number, "learning_rate": learning_rate(number, settings),
                    "tradeoff": tradeoff(number, settings), "train_loss": float(loss), "validation_loss": validation,
                    "validation_metric": metric, "best_validation_loss": best.loss,
                })  # fmt: skip
            if checkpoint and chief and number < settings.updates and checkpoint.due():
                checkpoint.write(
                    _state(number, optimiser, best, earlier + time.monotonic() - started)
                )
    if best.weights:
        torch._foreach_copy_([p.data for p in model.parameters()], best.weights)
    model.eval()
    return Trained(model, best.loss, best.update, earlier)


def update(
    model: nn.Module,
    optimiser: Lookahead,
    batch: EncodedTable,
    number: int,
    settings: NPTSettings,
    seed: int,
) -> torch.Tensor:
    """Update `number` = 1 .. T: mask a batch anew, step down its combined loss, which is returned."""
    inner: NPT = model.module if isinstance(model, nn.parallel.DistributedDataParallel) else model  # type: ignore[assignment]
    device, weight = batch.codes.device, tradeoff(number, settings)
    model.train()
    if settings.augment and (patches := inner.layout.patches):
        batch = augmented(
            batch, patches, generator_for(seed, "augmentation", device, _draw(number))
        )
    _seed_dropout(inner, seed, number, device)
    masked = mask(batch, "train", settings, generator_for(seed, "masks", device, _draw(number)))
    with autocast(settings, device):
        loss = training_loss(
            inner.head, model(masked.cells)[0, : len(batch.part)], batch, masked, weight
        )
    for parameter in inner.parameters():
        parameter.grad = None
    loss.backward()
    optimiser.step(learning_rate(number, settings))
    return loss.detach()


def mean_label_loss(
    model: NPT, data: EncodedTable, mode: Mode, settings: NPTSettings, seed: int, number: int = 0
) -> float:
    """Mean loss over the known targets of the mode's own rows, in batches drawn anew; infinite if there are none."""
    return label_scores(model, data, mode, settings, seed, number)[0]


@torch.no_grad()
def label_scores(
    model: NPT, data: EncodedTable, mode: Mode, settings: NPTSettings, seed: int, number: int = 0
) -> tuple[float, float]:
    """`mean_label_loss`, and of the same rows the accuracy, or the root mean square error of the standardised target."""
    model.eval()
    device = data.codes.device
    generator = generator_for(seed, "evaluation", device, number)
    sums = torch.zeros(3, dtype=torch.float64, device=device)
    for place, rows in enumerate(partition(data, mode, settings, generator)):
        masked = mask(batch := data.take(rows), mode, settings, generator)
        own = masked.labels.nonzero().flatten()
        if len(own) and place % distributed.processes() == distributed.rank():
            with autocast(settings, device):
                tokens = model(masked.cells, own[None])[0, :, model.layout.target_token]
                loss = label_loss(model.head, tokens, batch.take(own), masked.labels[own])
                right = model.head.target(tokens).argmax(-1) == batch.codes[own, data.target]
            sums += torch.stack(
                [loss.double(), right.sum().double(), torch.full_like(sums[0], len(own))]
            )
    total, right, count = distributed.summed(sums).tolist()
    if not count:
        return math.inf, math.nan
    return total / count, (
        math.sqrt(total / count) if model.layout.continuous[data.target] else right / count
    )


def _draw(number: int) -> int:
    """What counts the masks: the update, and the process where there are several."""
    return (
        number * distributed.processes() + distributed.rank()
        if distributed.processes() > 1
        else number
    )


def _seed_dropout(model: NPT, seed: int, number: int, device: torch.device) -> None:
    """Dropout of an update, by torch on a GPU and by the model's own masks on the CPU."""
    key = seed_for(seed, "dropout", _draw(number))
    model.noise.key = key
    if device.type == "cuda":
        torch.cuda.manual_seed(key)


def _state(number: int, optimiser: Lookahead, best: Best, seconds: float) -> dict[str, Any]:
    """All that the updates after `number` depend on; random numbers depend on the update alone."""
    inner = optimiser.optimiser
    return {
        "update": number,
        "seconds": seconds,
        "weights": [p.detach() for p in inner.parameters],
        "first": inner.first,
        "second": inner.second,
        "slow": optimiser.slow,
        "best_loss": best.loss,
        "best_update": best.update,
        "best": best.weights,
    }


def _restore(checkpoint: Checkpoint | None, optimiser: Lookahead, best: Best) -> tuple[int, float]:
    """Take up a checkpoint, if there is one; the number of updates that are done, and the seconds they took."""
    state = checkpoint.read() if checkpoint else None
    if state is None:
        return 0, 0.0
    inner = optimiser.optimiser
    with torch.no_grad():
        for own, saved in (
            ([p.data for p in inner.parameters], "weights"),
            (inner.first, "first"),
            (inner.second, "second"),
            (optimiser.slow, "slow"),
        ):
            torch._foreach_copy_(own, state[saved])
    optimiser.updates = state["update"]
    best.loss, best.update = state["best_loss"], state["best_update"]
    best.weights = [
        saved.to(p.device) for saved, p in zip(state["best"], inner.parameters, strict=False)
    ]
    return state["update"], state["seconds"]
