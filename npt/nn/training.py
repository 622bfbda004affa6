"""Training: updates, validation passes, and the best weights (paper Appendix C.5, E)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import torch
from torch import Tensor

from npt.nn.augmentation import augmented
from npt.nn.batches import batch_count, largest_batch, partition
from npt.nn.cuda_graph import Recorded
from npt.nn.device import arithmetic, autocast, prepare_blocks
from npt.nn.encoders.positions import PixelSpan
from npt.nn.engine import Training
from npt.nn.inputs import EncodedTable, ModelInput
from npt.nn.losses import label_loss, tradeoff, training_loss
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.optimiser import EPSILON, Adam, Lamb, Lookahead, learning_rate
from npt.nn.settings import NPTSettings
from npt.nn.span import Span
from npt.seeding import generator_for, seed_for


def build_optimiser(model: NPT, settings: NPTSettings) -> Lookahead:
    """The optimiser of the settings inside Lookahead, over all parameters of the model."""
    if settings.optimiser == "adam":
        inner = Adam(model.parameters(), settings.clip, epsilon=EPSILON)
    else:
        inner = Lamb(model.parameters(), model.segments(), settings.clip)
    return Lookahead(
        inner,
        settings.lookahead_steps,
        settings.lookahead_share,
        first_sync=settings.first_sync,
    )


class NPTTraining(Training):
    """The training of an NPT, which is evaluated by the label loss of the validation rows.

    On a GPU, updates and evaluations of one batch are recorded as CUDA graphs where they can be.

    Attributes:
        per_epoch: Number of batches of an epoch; every epoch is a new partition of the table.
        is_recorded: Whether they are.
        spans: Learned Gaussians of the blocks.
    """

    model: NPT
    optimiser: Lookahead

    def __init__(self, model: NPT, data: EncodedTable, settings: NPTSettings, seed: int) -> None:
        prepare_blocks(model, largest_batch(data, settings), settings, data.device)
        optimiser = build_optimiser(model, settings)
        super().__init__(model, optimiser, settings.updates, seed, data.tensors)
        self.data = data
        self.settings = settings
        self.per_epoch = batch_count(data, "train", settings)
        self.is_recorded = (  # an update is the same sequence of kernels every time
            data.device.type == "cuda"
            and model.layout.images is None
            and not model.recompute
            and settings.lookup == "off"
            and settings.kernel == "dot"
            and settings.optimiser == "lamb"
        )
        self.spans = [m for m in model.modules() if isinstance(m, (Span, PixelSpan))]
        self._epoch = -1
        self._partition: list[Tensor] = []
        self._masks = torch.Generator(data.device)
        self._steps: dict[int, Recorded] = {}
        self._score: Recorded | None = None

    def run(self, **options: Any) -> Self:
        """Do the updates that are left, in the precision of the settings."""
        with arithmetic(self.settings, self.data.device):
            return super().run(**options)

    def update(self, number: int) -> Tensor:
        """Update `number` = 1 .. T: mask a batch and take a step down its loss, which is returned.

        Dropout on the CPU has the model's own masks; torch's generator serves GPUs and encoders of
        images.
        """
        settings = self.settings
        device = self.data.device
        count = -(-number // settings.repeated_batches)  # of the batches drawn so far
        rows = self.batch_rows(count)
        key = seed_for(self.seed, "dropout", number)
        self._masks.manual_seed(seed_for(self.seed, "masks", count))
        images = self.model.layout.images
        if device.type == "cuda":
            torch.cuda.manual_seed(key)
        elif images:
            torch.default_generator.manual_seed(key)
        numbers = (tradeoff(number, settings), learning_rate(number, settings))
        if self.is_recorded:
            step = self._steps.get(len(rows))
            if step is None:
                step = Recorded(self._recorded_step, device, [self._masks])
                self._steps[len(rows)] = step
            loss = step(rows, torch.tensor(numbers, device=device))
        else:
            batch = self.data.take(rows)
            if settings.augment and images:
                generator = generator_for(self.seed, "augmentation", device, count)
                batch = augmented(batch, images.image, generator)
            self.model.set_dropout_key(key)
            loss = self._step(batch, *numbers)
        self.optimiser.moved(number)
        return loss

    def _recorded_step(self, rows: Tensor, numbers: Tensor) -> Tensor:
        share, rate = numbers.unbind()
        if self.settings.tradeoff == "constant":
            share = self.settings.tradeoff_start
        return self._step(self.data.take(rows), share, rate)

    def _step(
        self,
        batch: EncodedTable,
        share: float | Tensor,
        rate: float | Tensor,
    ) -> Tensor:
        """Move the fast weights, by a trade-off and a learning rate; returns the loss."""
        model = self.model.train()
        settings = self.settings
        masked = mask(batch, "train", settings, self._masks)
        with autocast(settings, self.data.device):
            tokens = model(masked.cells)[0, : len(batch.part)]  # (n, d, e), without duplicates
            loss = training_loss(model.head, tokens, batch, masked, share)
        model.zero_grad()
        loss.backward()
        self.optimiser.optimiser.step(rate)
        return loss.detach()

    def batch_rows(self, count: int) -> Tensor:
        """Row numbers of the `count`-th batch that is drawn."""
        epoch, index = divmod(count - 1, self.per_epoch)
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
        widths = [float(span.sigma.detach().abs().mean()) for span in self.spans]
        return {
            "update": number,
            "learning_rate": learning_rate(number, settings),
            "tradeoff": tradeoff(number, settings),
            "train_loss": float(loss),
            "validation_loss": validation_loss,
            "validation_metric": metric,
            "best_validation_loss": float(self.losses),
            **{f"sigma_{index}": width for index, width in enumerate(widths, start=1)},
        }

    @torch.no_grad()
    def validation_scores(self, number: int = 0) -> tuple[float, float]:
        """Mean label loss and metric of the validation rows with known targets.

        The metric is the accuracy, or the root mean square error of the standardised target. The
        loss is infinite without such rows.
        """
        score: Callable[[], Tensor] | None = self._score
        if score is None:
            data = self.data
            generator = generator_for(self.seed, "evaluation", data.device, number)
            batches = []
            scored_rows = []
            for rows in partition(data, "validation", self.settings, generator):
                masked = mask(data.take(rows), "validation", self.settings, generator)
                scored = masked.labels.nonzero().flatten()
                if len(scored):
                    batches.append((masked.cells, scored[None]))
                    scored_rows.append(rows[scored])
            if not batches:
                return math.inf, math.nan
            score = partial(self._scores, batches, data.take(torch.cat(scored_rows)))
            if self.is_recorded and batch_count(data, "validation", self.settings) == 1:
                score = self._score = Recorded(score, data.device)
        loss, metric = score().tolist()
        return loss, metric

    def _scores(self, batches: list[tuple[ModelInput, Tensor]], truth: EncodedTable) -> Tensor:
        """Mean label loss and metric (2,) of batches of inputs and query rows (1, m).

        Args:
            truth: The query rows of all batches.
        """
        model = self.model.eval()
        target = truth.target
        with autocast(self.settings, self.data.device):
            tokens = torch.cat([model.target_tokens(*batch)[0] for batch in batches])
        is_scored = ~truth.missing[:, target]
        loss = label_loss(model.head, tokens, truth, is_scored).double() / len(tokens)
        outputs = model.head.target(tokens)  # (m, C)
        if model.layout.continuous[target]:
            errors = outputs[:, 0] - truth.numbers[:, target]
            return torch.stack([loss, errors.square().mean().sqrt().double()])
        accuracy = (outputs.argmax(-1) == truth.codes[:, target]).double().mean()
        return torch.stack([loss, accuracy])
