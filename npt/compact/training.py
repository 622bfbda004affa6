"""Training of compact NPT: leave-one-out updates, and each member's best weights.

K members, n rows of a batch, d features, C length of a label.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from npt.compact.columns import Encoder, Features
from npt.compact.data import TrainingRows
from npt.compact.layers import by_member
from npt.compact.lookup import shown_labels
from npt.compact.model import CompactNPT, Context, chunk_size
from npt.compact.optimisation import Optimiser, learning_rate
from npt.compact.settings import CompactSettings
from npt.nn.checkpoint import Checkpoint
from npt.nn.engine import TrainingState, run
from npt.nn.progress import FollowTraining, Progress
from npt.nn.weights import initial_weights
from npt.seeding import generator_for, seed_for

METRICS = (
    "update",
    "learning_rate",
    "train_loss",
    "validation_loss",
    "best_validation_loss",
    "seconds",
)


@dataclass(frozen=True)
class TrainingResult:
    """Outcome of a training.

    Attributes:
        losses: Lowest validation loss of each member (K,); infinite without validation rows.
        best_updates: Updates that these came from (K,).
        updates: Number of updates.
        earlier_seconds: Time before an interruption.
    """

    losses: list[float]
    best_updates: list[int]
    updates: int
    earlier_seconds: float = 0.0


def build_model(
    encoder: Encoder,
    settings: CompactSettings,
    seed: int,
    device: torch.device,
) -> CompactNPT:
    """A model with initial weights, the same on every device."""
    with initial_weights(seed):
        return CompactNPT(encoder, settings).to(device)


def train(
    model: CompactNPT,
    data: TrainingRows,
    settings: CompactSettings,
    seed: int,
    *,
    checkpoint: Checkpoint | None = None,
    metrics: Path | None = None,
    stop_at: Sequence[int] | None = None,
    follow: FollowTraining = Progress,
) -> TrainingResult:
    """Train the model; each member ends with its averaged weights of the lowest validation loss.

    Args:
        checkpoint: Read at the start and written at intervals. A resumed training ends with
            bit-identical weights.
        metrics: Path of a CSV with a row for every evaluation.
        stop_at: Number of updates of each member, instead of validation rows.
        follow: Makes what shows the progress.
    """
    state = BestWeights(Optimiser(model, settings), model.members)
    batches = Batches(data, settings, seed)
    last = max(stop_at) if stop_at else settings.updates

    def updated(number: int) -> float:
        return update(model, state.optimiser, data, batches.rows(number), number, seed)

    def evaluated(number: int, loss: float | Tensor) -> dict[str, float] | None:
        if stop_at:
            state.keep([best == number for best in stop_at])
            return None
        if number % settings.evaluate_every and number < last:
            return None
        losses = validation_losses(state.averaged, data, settings)
        state.offer(losses)
        state.is_finished = number - max(state.best_updates) >= settings.patience
        return {
            "update": number,
            "learning_rate": learning_rate(number, settings),
            "train_loss": float(loss),
            "validation_loss": float(losses.mean()),
            "best_validation_loss": float(state.losses.mean()),
        }

    run(
        state,
        last,
        updated,
        evaluated,
        data.device,
        METRICS,
        checkpoint=checkpoint,
        metrics=metrics,
        follow=follow,
    )
    state.load_best_weights()
    model.eval()
    return state.result()


def update(
    model: CompactNPT,
    optimiser: Optimiser,
    data: TrainingRows,
    rows: Tensor,
    number: int,
    seed: int,
) -> float:
    """Update `number` = 1 .. T on some train rows; returns the members' mean loss."""
    settings = optimiser.settings
    model.train()
    _seed_update(seed, number, data.device)
    batch = data.features.take(rows)
    labels = data.labels[rows]
    hidden = hidden_cells(batch, settings)
    scored, invisible = draw_visibility(len(rows), settings, data.device)
    shown = shown_labels(labels, settings)
    outputs = model.leave_one_out(batch, shown, hidden, invisible)
    weights = data.weights[rows[scored]]
    losses = member_losses(
        outputs[:, scored],
        labels[scored],
        weights,
        settings,
    )
    optimiser.step(losses.sum())
    return float(losses.detach().mean())


def hidden_cells(batch: Features, settings: CompactSettings) -> Tensor | None:
    """Feature cells (K, n, d) to hide in an update; None if none are."""
    shares = by_member(settings.feature_mask, settings.members)
    if not any(shares):
        return None
    device = batch.missing.device
    drawn = torch.rand(settings.members, *batch.missing.shape, device=device)
    by_cell = torch.tensor(shares, device=device).view(-1, 1, 1)
    return drawn < by_cell


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
        count = round(settings.target_mask * rows)
        count = max(1, count)
        count = min(count, rows - 1)
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


def member_losses(
    outputs: Tensor,
    labels: Tensor,
    weights: Tensor,
    settings: CompactSettings,
) -> Tensor:
    """Mean loss (K,) of each member: squared error, or cross-entropy.

    Args:
        outputs: (K, n, C).
        labels: (n, C).
        weights: Weight of each row (n,).
    """
    if labels.shape[1] == 1:
        losses = (outputs - labels).square().squeeze(-1)  # (K, n)
    else:
        smoothing = settings.label_smoothing if torch.is_grad_enabled() else 0.0
        smooth = labels * (1 - smoothing) + smoothing / labels.shape[1]
        log_probabilities = functional.log_softmax(outputs, -1)
        losses = -(log_probabilities * smooth).sum(-1)  # (K, n)
    total = weights.sum().clamp(min=torch.finfo(weights.dtype).tiny)  # all may be zero
    return (losses * weights).sum(-1) / total


@torch.no_grad()
def validation_losses(
    model: CompactNPT,
    data: TrainingRows,
    settings: CompactSettings,
) -> Tensor:
    """Loss (K,) of each member on the validation rows, with the context of a prediction."""
    model.eval()
    context = _validation_context(model, data, settings)
    outputs = predict(model, data.validation_features, context)
    return member_losses(
        outputs,
        data.validation_labels,
        data.validation_weights,
        settings,
    )


def _validation_context(
    model: CompactNPT,
    data: TrainingRows,
    settings: CompactSettings,
) -> Context:
    """The train rows; in the lookup task, duplicates of the validation rows."""
    if settings.lookup == "off":
        return context_of(model, data.context_features, data.context_labels)
    labels = shown_labels(data.validation_labels, settings)
    return context_of(model, data.validation_features, labels)


def context_of(
    model: CompactNPT,
    features: Features,
    labels: Tensor,
) -> Context:
    """Keys and values of rows that predicted rows attend to."""
    rows = model.encode(features)
    return model.context_of_prediction(rows, labels)


def predict(
    model: CompactNPT,
    features: Features,
    context: Context,
) -> Tensor:
    """Outputs (K, n, C), some rows at a time."""
    rows = torch.arange(len(features), device=features.missing.device)
    outputs = []
    for part in rows.split(chunk_size(context)):
        encoded = model.encode(features.take(part))
        output = model.predict(encoded, context)
        outputs.append(output)
    return torch.cat(outputs, 1)


class Batches:
    """Rows of consecutive updates: every epoch is a new partition of the train rows."""

    def __init__(
        self,
        data: TrainingRows,
        settings: CompactSettings,
        seed: int,
    ) -> None:
        self.data = data
        self.seed = seed
        batch = settings.batch_size(len(data))
        self.per_epoch = max(1, len(data) // batch)
        self._epoch = -1
        self._order = torch.empty(0)

    def rows(self, number: int) -> Tensor:
        """Indices of the train rows of update `number` = 1 .. T."""
        epoch, index = divmod(number - 1, self.per_epoch)
        if epoch != self._epoch:
            device = self.data.device
            generator = generator_for(self.seed, "batches", device, epoch)
            self._order = torch.randperm(len(self.data), generator=generator, device=device)
            self._epoch = epoch
        return self._order[index :: self.per_epoch]


class BestWeights(TrainingState):
    """Weights, the optimiser's state, and each member's weights of the lowest validation loss."""

    def __init__(self, optimiser: Optimiser, members: int) -> None:
        super().__init__()
        self.optimiser = optimiser
        self.losses = torch.full((members,), math.inf)
        self.best_updates = [0] * members
        self.best_weights = [parameter.data.clone() for parameter in optimiser.parameters]

    @property
    def averaged(self) -> CompactNPT:
        """The model with averaged weights."""
        averaged = self.optimiser.averaged.module
        assert isinstance(averaged, CompactNPT)
        return averaged

    def offer(self, losses: Tensor) -> None:
        """Keep the averaged weights of the members whose loss (K,) is their lowest so far."""
        losses = losses.cpu()
        improved = losses < self.losses
        self.losses = torch.where(improved, losses, self.losses)
        self.keep(improved.tolist())

    @torch.no_grad()
    def keep(self, members: Sequence[bool]) -> None:
        """Keep the averaged weights of some members."""
        chosen = [member for member, is_kept in enumerate(members) if is_kept]
        for member in chosen:
            self.best_updates[member] = self.optimiser.updates
        if not chosen:
            return
        for best, parameter in zip(self.best_weights, self.averaged.parameters(), strict=True):
            best[chosen] = parameter[chosen]

    @torch.no_grad()
    def load_best_weights(self) -> None:
        """Set the weights of every member to its best ones."""
        for parameter, best in zip(self.optimiser.parameters, self.best_weights, strict=True):
            parameter.copy_(best)

    def result(self) -> TrainingResult:
        """Losses and updates of the best weights."""
        return TrainingResult(
            losses=self.losses.tolist(),
            best_updates=list(self.best_updates),
            updates=self.optimiser.updates,
            earlier_seconds=self.earlier_seconds,
        )

    def to_dict(self) -> dict[str, Any]:
        """Tensors and numbers by name."""
        return {
            "losses": self.losses,
            "best_updates": self.best_updates,
            "best": self.best_weights,
            **self.optimiser.state(),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `to_dict` returned."""
        self.optimiser.restore(saved)
        self.losses = saved["losses"]
        self.best_updates = list(saved["best_updates"])
        for best, of_saved in zip(self.best_weights, saved["best"], strict=True):
            best.copy_(of_saved)


def _seed_update(
    seed: int,
    number: int,
    device: torch.device,
) -> None:
    """Seed all draws of an update, so that they depend on its number alone."""
    key = seed_for(seed, "dropout", number)
    torch.default_generator.manual_seed(key)
    if device.type == "cuda":
        torch.cuda.manual_seed(key)
