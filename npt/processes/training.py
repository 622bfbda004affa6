"""Training of a process on random tasks, and its log-likelihoods on held-out ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from npt.errors import UserError
from npt.nn.engine import Training
from npt.nn.optimiser import Adam
from npt.processes import curves
from npt.processes.curves import Hyperparameters
from npt.processes.neural_process import NeuralProcess
from npt.processes.npt_process import NPTProcess
from npt.processes.realisations import Realisations
from npt.processes.settings import Kernel, TrainingSettings
from npt.processes.tasks import Tasks, drawn_sizes
from npt.seeding import generator_for

Process = NeuralProcess | NPTProcess


@dataclass(frozen=True)
class Curves:
    """Curves of a Gaussian process, drawn anew for every batch."""

    kernel: Kernel
    settings: TrainingSettings

    def drawn(self, tables: int, generator: torch.Generator) -> Tasks:
        """A batch of curves with one number of context points and of targets."""
        settings = self.settings
        context, points = drawn_sizes(generator, settings.fewest_context, settings.most_points)
        x = curves.drawn_inputs(tables, points, generator)  # (B, n)
        hyperparameters = Hyperparameters.drawn(tables, generator)
        y = curves.draw_curves(self.kernel, hyperparameters, x, generator)  # (B, n)
        return Tasks(x[..., None].float(), y.float(), context)


class Tables:
    """Tables of a dataset; each update has random points of some of them.

    Raises:
        UserError: The dataset has no table for training.
    """

    def __init__(self, data: Realisations, settings: TrainingSettings) -> None:
        self.data = data
        self.settings = settings
        self.tables = data.for_training()
        if not self.tables:
            raise UserError("curves: none; the dataset has no table that is for training alone")
        self.most_points = min(settings.most_points, min(map(len, self.tables)))

    def drawn(self, tables: int, generator: torch.Generator) -> Tasks:
        """A batch of tables with one number of context points and of targets."""
        device = generator.device
        fewest = min(self.settings.fewest_context, self.most_points)
        context, points = drawn_sizes(generator, fewest, self.most_points)
        count = len(self.tables)
        rows = []
        for number in torch.randint(count, (tables,), generator=generator, device=device).tolist():
            table = self.tables[number]
            order = torch.randperm(len(table), generator=generator, device=device)
            rows.append(table[order[:points].cpu().numpy()])
        return self.data.tasks(np.stack(rows), context)


def source_of(data: Realisations, settings: TrainingSettings) -> Curves | Tables:
    """The source that the settings name.

    Raises:
        UserError: The dataset has other inputs than curves, or no table for training.
    """
    if settings.curves is None:
        return Tables(data, settings)
    inputs = data.x.shape[1]
    if inputs != 1:
        raise UserError(
            f"curves: {settings.curves} is for tables of one input; this one has {inputs}; "
            "use null to train on its own tables"
        )
    return Curves(settings.curves, settings)


@torch.no_grad()
def log_likelihoods(
    model: Process,
    batches: Iterable[Tasks],
    draws: int,
    seed: int,
) -> list[float]:
    """Mean log density of the context points, and of the other targets, in nats.

    Each point is scored under its marginal distribution.
    """
    sums = torch.zeros(2, dtype=torch.float64)
    counts = torch.zeros(2, dtype=torch.float64)
    for number, tasks in enumerate(batches):
        generator = generator_for(seed, "latents", tasks.x.device, number)
        densities = model.predict(tasks, draws, generator).log_likelihoods(tasks.y)  # (B, n)
        for side, part in enumerate((densities[:, : tasks.context], densities[:, tasks.context :])):
            sums[side] += part.double().sum().cpu()
            counts[side] += part.numel()
    return (sums / counts).tolist()


def learning_rate(update: int, settings: TrainingSettings) -> float:
    """Learning rate of update t = 1 .. T."""
    if settings.schedule == "constant":
        return settings.learning_rate
    progress = (update - 1) / settings.updates
    return settings.learning_rate * 0.5 * (1 + math.cos(math.pi * progress))


class ProcessTraining(Training):
    """The training of a process, which ends with its last weights.

    Attributes:
        history: Update, seconds, context and target log-likelihood (k, 4) of each evaluation.
    """

    model: Process
    optimiser: Adam

    def __init__(
        self,
        model: Process,
        source: Curves | Tables,
        validation: list[Tasks],
        settings: TrainingSettings,
        seed: int,
        tensors: Sequence[Tensor] = (),
    ) -> None:
        optimiser = Adam(model.parameters(), fused=True)
        super().__init__(model, optimiser, settings.updates, seed, tensors)
        self.source = source
        self.validation = validation
        self.settings = settings
        self.device = next(model.parameters()).device
        count = -(-settings.updates // settings.evaluate_every)
        self.history = torch.zeros(count, 4, dtype=torch.float64)

    def update(self, number: int) -> Tensor:
        """Take a step up the objective of tasks that are drawn anew."""
        generator = generator_for(self.seed, "tasks", self.device, number)
        tasks = self.source.drawn(self.settings.batch_tables, generator)
        noise = generator_for(self.seed, "noise", self.device, number)
        objective = self.model.objective(tasks, noise)
        self.model.zero_grad()
        (-objective).backward()
        self.optimiser.step(learning_rate(number, self.settings))
        return objective.detach()

    def evaluate(self, number: int, loss: float | Tensor) -> dict[str, float] | None:
        """Log-likelihoods of the validation tables."""
        settings = self.settings
        if number % settings.evaluate_every and number < settings.updates:
            return None
        context, target = log_likelihoods(self.model, self.validation, settings.draws, self.seed)
        self.losses[0] = -target
        self.keep([0])
        index = -(-number // settings.evaluate_every) - 1
        self.history[index] = torch.tensor(
            [number, self.seconds, context, target], dtype=torch.float64
        )
        return {
            "update": number,
            "learning_rate": learning_rate(number, settings),
            "train_objective": float(loss),
            "context_log_likelihood": context,
            "target_log_likelihood": target,
        }

    def state(self) -> dict[str, list[Tensor]]:
        """Tensors that later updates depend on, by name."""
        return {**super().state(), "history": [self.history]}
