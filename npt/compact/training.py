"""Training of compact NPT: leave-one-out updates, and each member's best weights.

K members, n rows of a batch, d features, C length of a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from npt.compact.columns import Features
from npt.compact.layers import by_member
from npt.compact.model import CompactNPT, Context
from npt.compact.optimisation import Optimiser, learning_rate
from npt.compact.settings import CompactSettings
from npt.nn.engine import Training
from npt.seeding import generator_for, seed_for


@dataclass(frozen=True)
class LabelledRows:
    """Encoded rows with their labels (n, C) and weights (n,)."""

    features: Features
    labels: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def tensors(self) -> list[Tensor]:
        """All of them."""
        return [*self.features, self.labels, self.weights]

    def take(self, rows: Tensor) -> LabelledRows:
        """Some of the rows."""
        return LabelledRows(self.features.take(rows), self.labels[rows], self.weights[rows])


@dataclass(frozen=True)
class TrainingRows:
    """Rows with known targets.

    Attributes:
        train: Train rows.
        validation: Validation rows of an evaluation.
        context: Train rows that are the context of a prediction.
    """

    train: LabelledRows
    validation: LabelledRows
    context: LabelledRows


class CompactTraining(Training):
    """The training of a compact NPT, whose averaged weights are evaluated.

    Attributes:
        stop_at: Number of updates of each member, instead of validation rows.
    """

    model: CompactNPT
    optimiser: Optimiser

    def __init__(
        self,
        model: CompactNPT,
        data: TrainingRows,
        settings: CompactSettings,
        seed: int,
        stop_at: Sequence[int] | None = None,
    ) -> None:
        optimiser = Optimiser(model, settings)
        last = max(stop_at) if stop_at else settings.updates
        tensors = [*data.train.tensors, *data.validation.tensors]
        super().__init__(model, optimiser, last, seed, tensors, model.members)
        self.data = data
        self.settings = settings
        self.stop_at = stop_at

    def weights(self) -> list[Tensor]:
        """Weights of the members."""
        return [parameter.data for parameter in self.model.parameters()]

    def evaluated_weights(self) -> list[Tensor]:
        """Their averages."""
        return self.optimiser.averages

    def update(self, number: int) -> float:
        """Update `number` = 1 .. T: predict a batch from itself; the members' mean loss."""
        settings = self.settings
        self.model.train()
        key = seed_for(self.seed, "dropout", number)  # of all draws of the update
        torch.default_generator.manual_seed(key)
        batch = self.data.train.take(self.batch_rows(number))
        device = batch.labels.device
        if device.type == "cuda":
            torch.cuda.manual_seed(key)
        hidden = hidden_cells(batch.features, settings)
        scored, invisible = draw_visibility(len(batch), settings, device)
        shown = shown_labels(batch.labels, settings)
        rows = self.model.encode(batch.features, hidden)
        outputs = self.model.attended(rows, self.model.context(rows, shown), invisible)
        losses = member_losses(outputs[:, scored], batch.labels[scored], batch.weights[scored])
        self.optimiser.step(losses.sum(), number)
        return float(losses.detach().mean())

    def batch_rows(self, number: int) -> Tensor:
        """Indices of the train rows of an update; every epoch is a new partition of them."""
        count = len(self.data.train)
        device = self.data.train.labels.device
        per_epoch = max(1, count // self.settings.batch_size(count))
        epoch, index = divmod(number - 1, per_epoch)
        generator = generator_for(self.seed, "batches", device, epoch)
        order = torch.randperm(count, generator=generator, device=device)
        return order[index::per_epoch]

    @torch.no_grad()
    def evaluate(self, number: int, loss: float | Tensor) -> dict[str, float] | None:
        """Losses after some updates; the training ends where no member has improved for long.

        Validation rows have the context of a prediction.
        """
        settings = self.settings
        if self.stop_at:
            self.keep([member for member, last in enumerate(self.stop_at) if last == number])
            return None
        if number % settings.evaluate_every and number < settings.updates:
            return None
        model = self.optimiser.averaged.eval()
        rows = self.data.validation
        shown = self.data.context if settings.lookup == "off" else rows  # their duplicates
        labels = shown_labels(shown.labels, settings)
        context = model.context(model.encode(shown.features), labels)
        outputs = predict(model, rows.features, context)
        losses = member_losses(outputs, rows.labels, rows.weights)
        self.offer(losses.tolist())
        self.is_finished = number - max(self.best_updates) >= settings.patience
        return {
            "update": number,
            "learning_rate": learning_rate(number, settings),
            "train_loss": float(loss),
            "validation_loss": float(losses.mean()),
            "best_validation_loss": float(self.losses.mean()),
        }


def shown_labels(labels: Tensor, settings: CompactSettings) -> Tensor:
    """What rows with labels (m, C) show in the context."""
    return labels + 1.0 if settings.lookup == "add_one" else labels


def hidden_cells(batch: Features, settings: CompactSettings) -> Tensor | None:
    """Feature cells (K, n, d) to hide in an update; None if none are."""
    shares = by_member(settings.feature_mask, settings.members)
    if not any(shares):
        return None
    device = batch.missing.device
    random = torch.rand(settings.members, *batch.missing.shape, device=device)
    by_cell = torch.tensor(shares, device=device).view(-1, 1, 1)
    return random < by_cell


def draw_visibility(
    rows: int,
    settings: CompactSettings,
    device: torch.device,
) -> tuple[Tensor, Tensor]:
    """Rows (m,) of a batch to score, and which row (n, n) attends not to which.

    No scored row attends to itself, so none sees its own label. With `target_mask`, rows with
    hidden labels are scored, and no row attends to them. In the lookup task every row attends to
    its duplicate: itself.
    """
    is_itself = torch.eye(rows, dtype=torch.bool, device=device)
    everything = torch.arange(rows, device=device)
    if settings.target_mask is not None:
        count = min(max(1, round(settings.target_mask * rows)), rows - 1)
        scored = torch.randperm(rows, device=device)[:count]
        masked = torch.zeros(rows, dtype=torch.bool, device=device)
        masked[scored] = True
        return scored, masked.expand(rows, rows)
    dropped = torch.rand(rows, device=device) < settings.context_dropout
    if settings.lookup != "off":
        return everything, dropped & ~is_itself
    remaining = int((~dropped).sum())
    if remaining < 2:  # each row needs one besides itself
        return everything, is_itself
    return everything, is_itself | dropped


def member_losses(outputs: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Mean loss (K,) of each member: squared error, or cross-entropy.

    Args:
        outputs: (K, n, C).
        labels: (n, C).
        weights: Weight of each row (n,).
    """
    if labels.shape[1] == 1:
        losses = (outputs - labels).square().squeeze(-1)  # (K, n)
    else:
        losses = -(functional.log_softmax(outputs, -1) * labels).sum(-1)  # (K, n)
    total = weights.sum().clamp(min=torch.finfo(weights.dtype).tiny)  # all may be zero
    return (losses * weights).sum(-1) / total


def predict(
    model: CompactNPT,
    features: Features,
    context: Context,
    invisible: Tensor | None = None,
) -> Tensor:
    """Outputs (K, n, C), some rows at a time; `invisible` (n, m) as of the model's `predict`."""
    rows = torch.arange(len(features.missing), device=features.missing.device)
    outputs = []
    for part in rows.split(context.chunk_size):
        encoded = model.encode(features.take(part))
        hidden = None if invisible is None else invisible[part]
        outputs.append(model.predict(encoded, context, hidden))
    return torch.cat(outputs, 1)
