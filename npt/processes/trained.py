"""A trained process with the table of held-out realisations that it predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from npt.interface import Prediction
from npt.nn.gaussian import Gaussians
from npt.nn.trained_network import TrainedNetwork, build_model
from npt.processes.neural_process import NeuralProcess
from npt.processes.npt_process import NPTProcess
from npt.processes.realisations import Realisations
from npt.processes.settings import NeuralProcessSettings, NPTProcessSettings, TrainingSettings
from npt.processes.tasks import Tasks
from npt.processes.training import ProcessTraining, source_of
from npt.seeding import generator_for
from npt.table import HELD_OUT, Split, Table

HISTORY = "history"  # name in a file of weights
MOST_TABLES = 256  # that are predicted at once


@dataclass(frozen=True)
class TrainedProcess(TrainedNetwork):
    """A network in evaluation mode; nothing in it changes.

    Attributes:
        model: A `NeuralProcess` or an `NPTProcess`.
        data: Points of the table's realisations.
        history: Update, seconds, context and target log-likelihood (k, 4) of each evaluation.
    """

    model: Any
    data: Realisations
    settings: TrainingSettings
    seed: int
    history: Tensor

    @classmethod
    def untrained(
        cls,
        settings: TrainingSettings,
        device: torch.device,
        table: Table,
        split: Split,
        seed: int,
    ) -> TrainedProcess:
        """A network with initial weights, the same on every device."""
        data = Realisations.from_table(table, split, device)
        model: Any = build_model(build, seed, device, settings, data.x.shape[1]).eval()
        return cls(model, data, settings, seed, torch.zeros(0, 4))

    def training(self) -> ProcessTraining:
        """The training on curves, or on tables for training alone."""
        data = self.data
        source = source_of(data, self.settings)
        held_out = data.held_out("validation", self.settings.batch_tables)
        validation = [tasks for tasks, _ in held_out]
        tensors = (data.x, data.y)
        return ProcessTraining(self.model, source, validation, self.settings, self.seed, tensors)

    def finished(self, training: ProcessTraining) -> tuple[TrainedProcess, float]:
        """The network with the history of its training."""
        return replace(self, history=training.history), float(training.losses)

    def weights(self) -> dict[str, Tensor]:
        """Weights by name, and the history."""
        return {**super().weights(), HISTORY: self.history}

    def with_weights(self, weights: dict[str, Any]) -> Self:
        """The network with other `weights`, which are set in place, and their history."""
        history = weights.pop(HISTORY)
        return replace(super().with_weights(weights), history=history)

    @torch.no_grad()
    def predict(self, rows: np.ndarray) -> Prediction:
        """Means (n,) of validation or test rows, each among all targets of its part."""
        values = np.full(len(self.data.number), np.nan)
        for part in HELD_OUT:
            if not (self.data.part[rows] == part).any():
                continue
            for tasks, numbers in self.data.held_out(part, MOST_TABLES):
                means = self.targets(tasks).marginal_mean()  # (B, q)
                queries = numbers[:, tasks.context :]
                values[queries] = means.double().cpu().numpy()
        return Prediction(values[rows])

    @torch.no_grad()
    def gaussians(self, tasks: Tasks) -> Gaussians:
        """Distributions (S, B, n) of all targets, with the same draws for all tasks of a size."""
        generator = generator_for(self.seed, "latents", self.device)
        return self.model.predict(tasks, self.settings.draws, generator)

    def targets(self, tasks: Tasks) -> Gaussians:
        """Distributions (S, B, q) of the targets that are not in the context."""
        return self.gaussians(tasks).after(tasks.context)


def build(settings: TrainingSettings, inputs: int) -> NeuralProcess | NPTProcess:
    """A network for tables of d inputs, with random weights."""
    if isinstance(settings, NPTProcessSettings):
        return NPTProcess(inputs, settings.network, among_queries=settings.among_queries)
    assert isinstance(settings, NeuralProcessSettings)
    return NeuralProcess(inputs, settings)
