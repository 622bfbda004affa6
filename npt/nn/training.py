"""Training: updates, validation passes, and the best weights (paper Appendix C.5, E)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from npt.nn.augmentation import augmented
from npt.nn.batches import batch_count, largest_batch, partition
from npt.nn.column_layout import ColumnLayout
from npt.nn.device import arithmetic, autocast, prepare_blocks
from npt.nn.engine import Training
from npt.nn.inputs import EncodedTable
from npt.nn.losses import label_loss, tradeoff, training_loss
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.optimiser import Adam, Lamb, Lookahead, learning_rate
from npt.nn.progress import FIELDS
from npt.nn.settings import NPTSettings
from npt.nn.trained_network import initial_weights
from npt.seeding import generator_for, seed_for
from npt.table import Part


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
        inner = Lamb(model.parameters(), model.segments(), settings.clip)
    return Lookahead(
        inner,
        settings.lookahead_steps,
        settings.lookahead_share,
        first_sync=settings.first_sync,
    )


class NPTTraining(Training[NPT, Lookahead]):
    """The training of an NPT, which is evaluated by the label loss of the validation rows."""

    fields = FIELDS

    def __init__(self, model: NPT, data: EncodedTable, settings: NPTSettings, seed: int) -> None:
        prepare_blocks(model, largest_batch(data, settings), settings, data.device)
        optimiser = build_optimiser(model, settings)
        super().__init__(model, optimiser, settings.updates, seed, data.tensors)
        self.data = data
        self.settings = settings
        self.batches = TrainingBatches(data, settings, seed)

    def run(self, **options: Any) -> Self:
        """Do the updates that are left, in the precision of the settings."""
        with arithmetic(self.settings, self.data.device):
            return super().run(**options)

    def update(self, number: int) -> Tensor:
        """Mask the batch of an update and take a step down its loss."""
        batch = self.data.take(self.batches.rows(number))
        return update(self.model, self.optimiser, batch, number, self.settings, self.seed)

    def evaluate(self, number: int, loss: float | Tensor) -> dict[str, float] | None:
        """Losses and metric at the end of some epochs, and of the training."""
        settings = self.settings
        if not (self.batches.ends_evaluated_epoch(number) or number == settings.updates):
            return None
        scores = label_scores(self.model, self.data, "validation", settings, self.seed, number)
        self.offer([scores.loss])
        return {
            "update": number,
            "learning_rate": learning_rate(number, settings),
            "tradeoff": tradeoff(number, settings),
            "train_loss": float(loss),
            "validation_loss": scores.loss,
            "validation_metric": scores.metric,
            "best_validation_loss": float(self.losses),
        }


def update(
    model: NPT,
    optimiser: Lookahead,
    batch: EncodedTable,
    number: int,
    settings: NPTSettings,
    seed: int,
) -> Tensor:
    """Update `number` = 1 .. T: mask a batch and take a step down its loss, which is returned.

    Dropout on the CPU has the model's own masks; torch's generator serves GPUs and encoders of
    images.
    """
    device = batch.device
    model.train()
    images = model.layout.images
    count = drawn_batches(number, settings)
    if settings.augment and images:
        batch = augmented(batch, images.image, generator_for(seed, "augmentation", device, count))
    key = seed_for(seed, "dropout", number)
    model.set_dropout_key(key)
    if device.type == "cuda":
        torch.cuda.manual_seed(key)
    elif images:
        torch.default_generator.manual_seed(key)
    masked = mask(batch, "train", settings, generator_for(seed, "masks", device, count))
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
    data: EncodedTable,
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
        data: EncodedTable,
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
        count = drawn_batches(number, self.settings)
        epoch, index = divmod(count - 1, self.per_epoch)
        if epoch != self._epoch:
            generator = generator_for(self.seed, "batches", self.data.device, epoch)
            self._partition = partition(self.data, "train", self.settings, generator)
            self._epoch = epoch
        return self._partition[index]

    def ends_evaluated_epoch(self, number: int) -> bool:
        """Whether a validation pass follows update `number`."""
        per_epoch = self.per_epoch * self.settings.repeated_batches
        return number % (per_epoch * self.settings.evaluate_every) == 0
