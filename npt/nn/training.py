"""Training: updates, validation passes, and the best weights (paper Appendix C.5, E)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from npt.nn.augmentation import augmented
from npt.nn.batches import batch_count, largest_batch, partition
from npt.nn.checkpoint import Checkpoint
from npt.nn.column_layout import ColumnLayout
from npt.nn.device import arithmetic, autocast, prepare_blocks
from npt.nn.engine import TrainingState, run
from npt.nn.image_table import TableData
from npt.nn.inputs import EncodedTable
from npt.nn.kernels import is_fast
from npt.nn.kernels.lamb import FusedLamb
from npt.nn.losses import label_loss, tradeoff, training_loss
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.optimiser import Adam, Lamb, Lookahead, learning_rate
from npt.nn.progress import FIELDS, FollowTraining, Progress
from npt.nn.settings import NPTSettings
from npt.nn.weights import initial_weights
from npt.seeding import generator_for, seed_for
from npt.table import Part


@dataclass(frozen=True)
class TrainingResult:
    """The lowest validation loss, and the update that it came from.

    Attributes:
        earlier_seconds: Time before an interruption.
    """

    validation_loss: float
    update: int
    earlier_seconds: float = 0.0


def build_model(
    layout: ColumnLayout,
    settings: NPTSettings,
    seed: int,
    device: torch.device,
) -> NPT:
    """A model with initial weights, the same on every device."""
    with initial_weights(seed):
        return NPT(layout, settings).to(device)


def build_optimiser(model: NPT, settings: NPTSettings) -> Lookahead:
    """The optimiser of the settings inside Lookahead, over all parameters of the model."""
    if settings.optimiser == "adam":
        inner = Adam(model.parameters(), settings.clip)
    else:
        kind = FusedLamb if is_fast() else Lamb
        inner = kind(model.parameters(), model.segments(), settings.clip)
    return Lookahead(
        inner,
        settings.lookahead_steps,
        settings.lookahead_share,
        first_sync=settings.first_sync,
    )


def trained_buffers(model: NPT) -> list[Tensor]:
    """Buffers that a training changes and that are saved with the weights."""
    weights = model.state_dict()
    buffers = dict(model.named_buffers())
    return [buffer for name, buffer in buffers.items() if name in weights]


def train(
    model: NPT,
    data: TableData,
    settings: NPTSettings,
    seed: int,
    *,
    checkpoint: Checkpoint | None = None,
    metrics: Path | None = None,
    follow: FollowTraining = Progress,
) -> TrainingResult:
    """Train the model; it ends with the weights of the lowest validation label loss.

    Args:
        checkpoint: Read at the start and written at intervals. A resumed training ends with
            bit-identical weights.
        metrics: Path of a CSV with a row for every evaluation.
        follow: Makes what shows the progress.
    """
    device = data.device
    state = BestWeights(build_optimiser(model, settings), trained_buffers(model))
    prepare_blocks(model, largest_batch(data, settings), settings, device)
    batches = TrainingBatches(data, settings, seed)

    def updated(number: int) -> Tensor:
        batch = data.take(batches.rows(number))
        return update(model, state.optimiser, batch, number, settings, seed)

    def evaluated(number: int, loss: float | Tensor) -> dict[str, float] | None:
        if not (batches.ends_evaluated_epoch(number) or number == settings.updates):
            return None
        scores = label_scores(model, data, "validation", settings, seed, number)
        state.offer(scores.loss)
        return {
            "update": number,
            "learning_rate": learning_rate(number, settings),
            "tradeoff": tradeoff(number, settings),
            "train_loss": float(loss),
            "validation_loss": scores.loss,
            "validation_metric": scores.metric,
            "best_validation_loss": state.best_loss,
        }

    with arithmetic(settings, device):
        run(
            state,
            settings.updates,
            updated,
            evaluated,
            device,
            FIELDS,
            checkpoint=checkpoint,
            metrics=metrics,
            follow=follow,
        )
    state.load_best_weights()
    model.eval()
    return TrainingResult(state.best_loss, state.best_update, state.earlier_seconds)


def update(
    model: NPT,
    optimiser: Lookahead,
    batch: EncodedTable,
    number: int,
    settings: NPTSettings,
    seed: int,
) -> Tensor:
    """Update `number` = 1 .. T: mask a batch and take a step down its loss, which is returned."""
    device = batch.device
    model.train()
    image = model.layout.image
    drawn = drawn_batches(number, settings)
    if settings.augment and image:
        batch = augmented(batch, image, generator_for(seed, "augmentation", device, drawn))
    _seed_dropout(model, seed, number, device)
    masked = mask(batch, "train", settings, generator_for(seed, "masks", device, drawn))
    with autocast(settings, device):
        tokens = model(masked.cells)[0, : len(batch.part)]  # (n, d, e), without duplicates
        loss = training_loss(model.head, tokens, batch, masked, tradeoff(number, settings))
    model.zero_grad()
    loss.backward()
    optimiser.step(learning_rate(number, settings))
    return loss.detach()


def drawn_batches(updates: int, settings: NPTSettings) -> int:
    """Number of batches drawn for the first `updates` updates."""
    return -(-updates // settings.repeated_batches)


class LabelScores(NamedTuple):
    """Mean label loss; accuracy, or root mean square error of the standardised target."""

    loss: float
    metric: float


@torch.no_grad()
def label_scores(
    model: NPT,
    data: TableData,
    mode: Part,
    settings: NPTSettings,
    seed: int,
    number: int = 0,
) -> LabelScores:
    """Scores over the known targets of the mode's own rows; the loss is infinite without any."""
    model.eval()
    device = data.device
    generator = generator_for(seed, "evaluation", device, number)
    loss_sum = torch.zeros((), dtype=torch.float64, device=device)
    metric_sum = torch.zeros((), dtype=torch.float64, device=device)
    continuous = model.layout.continuous[data.target]
    count = 0
    for rows in partition(data, mode, settings, generator):
        batch = data.take(rows)
        masked = mask(batch, mode, settings, generator)
        scored = masked.labels.nonzero().flatten()
        if not len(scored):
            continue
        with autocast(settings, device):
            tokens = model(masked.cells, scored[None])[0, :, model.layout.target_token]  # (m, e)
            loss_sum += label_loss(model.head, tokens, batch.take(scored), masked.labels[scored])
            outputs = model.head.target(tokens)  # (m, C)
        if continuous:
            errors = outputs[:, 0] - batch.numbers[scored, data.target]
            metric_sum += errors.square().sum()
        else:
            metric_sum += (outputs.argmax(-1) == batch.codes[scored, data.target]).sum()
        count += len(scored)
    if not count:
        return LabelScores(math.inf, math.nan)
    metric = metric_sum.item() / count
    if continuous:
        metric = math.sqrt(metric)
    return LabelScores(loss_sum.item() / count, metric)


class TrainingBatches:
    """Rows of consecutive updates: every epoch is a new partition of the table."""

    def __init__(
        self,
        data: TableData,
        settings: NPTSettings,
        seed: int,
    ) -> None:
        self.data = data
        self.settings = settings
        self.seed = seed
        self.per_epoch = batch_count(data, "train", settings)
        self._epoch = -1
        self._partition: list[Tensor] = []

    def rows(self, number: int) -> Tensor:
        """Row numbers of the batch of update `number` = 1 .. T."""
        drawn = drawn_batches(number, self.settings)
        epoch, index = divmod(drawn - 1, self.per_epoch)
        if epoch != self._epoch:
            generator = generator_for(self.seed, "batches", self.data.device, epoch)
            self._partition = partition(self.data, "train", self.settings, generator)
            self._epoch = epoch
        return self._partition[index]

    def ends_evaluated_epoch(self, number: int) -> bool:
        """Whether a validation pass follows update `number`."""
        per_epoch = self.per_epoch * self.settings.repeated_batches
        return number % (per_epoch * self.settings.evaluate_every) == 0


class BestWeights(TrainingState):
    """Weights, the optimiser's state, and the weights of the lowest validation loss."""

    def __init__(self, optimiser: Lookahead, buffers: Sequence[Tensor] = ()) -> None:
        super().__init__()
        self.optimiser = optimiser
        self.buffers = list(buffers)
        self.best_loss = math.inf
        self.best_update = 0
        self.best_weights: list[Tensor] = []

    @property
    def weights(self) -> list[Tensor]:
        """Current weights, and buffers such as the statistics of batch normalisation."""
        weights = [parameter.data for parameter in self.optimiser.parameters]
        return weights + self.buffers

    def offer(self, loss: float) -> None:
        """Keep a copy of the current weights if their validation loss is the lowest so far."""
        if not loss < self.best_loss:
            return
        self.best_loss = loss
        self.best_update = self.update
        if not self.best_weights:
            self.best_weights = [torch.empty_like(weight) for weight in self.weights]
        torch._foreach_copy_(self.best_weights, self.weights)

    def load_best_weights(self) -> None:
        """Set the weights to the best ones; the last ones stay if no loss was finite."""
        if self.best_weights:
            torch._foreach_copy_(self.weights, self.best_weights)

    def to_dict(self) -> dict[str, Any]:
        """Tensors and numbers by name."""
        return {
            "weights": self.weights,
            **self.optimiser.state(),
            "best_loss": self.best_loss,
            "best_update": self.best_update,
            "best": self.best_weights,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `to_dict` returned."""
        torch._foreach_copy_(self.weights, saved["weights"])
        self.optimiser.restore(saved, self.update)
        self.best_loss = saved["best_loss"]
        self.best_update = saved["best_update"]
        device = self.optimiser.parameters[0].device
        self.best_weights = [weight.to(device) for weight in saved["best"]]


def _seed_dropout(
    model: NPT,
    seed: int,
    number: int,
    device: torch.device,
) -> None:
    """Seed the dropout of an update: torch's on a GPU, the model's own masks on the CPU.

    Plain kernels and encoders of images draw from torch's generator on the CPU, too.
    """
    key = seed_for(seed, "dropout", number)
    model.dropout_masks.key = key
    if device.type == "cuda":
        torch.cuda.manual_seed(key)
    elif not is_fast() or model.layout.images:
        torch.default_generator.manual_seed(key)
