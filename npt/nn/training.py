"""Training: updates, validation passes, and the best weights (paper Appendix C.5, E)."""

from __future__ import annotations

import math
from typing import Any, Self

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
from npt.nn.settings import NPTSettings
from npt.nn.trained_network import initial_weights
from npt.seeding import generator_for, seed_for


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
    """The training of an NPT, which is evaluated by the label loss of the validation rows.

    Attributes:
        per_epoch: Number of batches of an epoch; every epoch is a new partition of the table.
    """

    def __init__(self, model: NPT, data: EncodedTable, settings: NPTSettings, seed: int) -> None:
        prepare_blocks(model, largest_batch(data, settings), settings, data.device)
        optimiser = build_optimiser(model, settings)
        super().__init__(model, optimiser, settings.updates, seed, data.tensors)
        self.data = data
        self.settings = settings
        self.per_epoch = batch_count(data, "train", settings)
        self._epoch = -1
        self._partition: list[Tensor] = []

    def run(self, **options: Any) -> Self:
        """Do the updates that are left, in the precision of the settings."""
        with arithmetic(self.settings, self.data.device):
            return super().run(**options)

    def update(self, number: int) -> Tensor:
        """Update `number` = 1 .. T: mask a batch and take a step down its loss, which is returned.

        Dropout on the CPU has the model's own masks; torch's generator serves GPUs and encoders of
        images.
        """
        model = self.model
        settings = self.settings
        seed = self.seed
        device = self.data.device
        model.train()
        count = drawn_batches(number, settings)
        batch = self.data.take(self.batch_rows(number))
        images = model.layout.images
        if settings.augment and images:
            generator = generator_for(seed, "augmentation", device, count)
            batch = augmented(batch, images.image, generator)
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
        self.optimiser.step(learning_rate(number, settings))
        return loss.detach()

    def batch_rows(self, number: int) -> Tensor:
        """Row numbers of the batch of an update."""
        epoch, index = divmod(drawn_batches(number, self.settings) - 1, self.per_epoch)
        if epoch != self._epoch:
            generator = generator_for(self.seed, "batches", self.data.device, epoch)
            self._partition = partition(self.data, "train", self.settings, generator)
            self._epoch = epoch
        return self._partition[index]

    def evaluate(self, number: int, loss: float | Tensor) -> dict[str, float] | None:
        """Losses and metric at the end of some epochs, and of the training."""
        settings = self.settings
        updates = self.per_epoch * settings.repeated_batches * settings.evaluate_every
        if number % updates and number < settings.updates:
            return None
        validation_loss, metric = self.validation_scores(number)
        self.offer([validation_loss])
        return {
            "update": number,
            "learning_rate": learning_rate(number, settings),
            "tradeoff": tradeoff(number, settings),
            "train_loss": float(loss),
            "validation_loss": validation_loss,
            "validation_metric": metric,
            "best_validation_loss": float(self.losses),
        }

    @torch.no_grad()
    def validation_scores(self, number: int = 0) -> tuple[float, float]:
        """Mean label loss and metric of the validation rows with known targets.

        The metric is the accuracy, or the root mean square error of the standardised target. The
        loss is infinite without such rows.
        """
        model = self.model.eval()
        data = self.data
        device = data.device
        generator = generator_for(self.seed, "evaluation", device, number)
        scored_rows = []
        tokens_of_batches = []
        for rows in partition(data, "validation", self.settings, generator):
            masked = mask(data.take(rows), "validation", self.settings, generator)
            scored = masked.labels.nonzero().flatten()
            if len(scored):
                with autocast(self.settings, device):
                    tokens_of_batches.append(model.target_tokens(masked.cells, scored[None])[0])
                scored_rows.append(rows[scored])
        if not scored_rows:
            return math.inf, math.nan
        truth = data.take(torch.cat(scored_rows))
        tokens = torch.cat(tokens_of_batches)  # (m, e)
        is_scored = ~truth.missing[:, data.target]
        loss = label_loss(model.head, tokens, truth, is_scored).item() / len(tokens)
        outputs = model.head.target(tokens)  # (m, C)
        if model.layout.continuous[data.target]:
            errors = outputs[:, 0] - truth.numbers[:, data.target]
            return loss, errors.square().mean().sqrt().item()
        return loss, (outputs.argmax(-1) == truth.codes[:, data.target]).double().mean().item()


def drawn_batches(updates: int, settings: NPTSettings) -> int:
    """Number of batches drawn for the first `updates` updates."""
    return -(-updates // settings.repeated_batches)
