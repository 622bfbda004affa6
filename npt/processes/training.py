"""Training of a process on random tasks, and its log-likelihoods on held-out ones."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from npt.interface import UserError
from npt.nn.checkpoint import Checkpoint, written_when_terminated
from npt.nn.gaussian import Gaussians
from npt.nn.progress import Progress
from npt.processes import curves
from npt.processes.curves import Hyperparameters
from npt.processes.realisations import Realisations
from npt.processes.settings import Kernel, TrainingSettings
from npt.processes.tasks import Tasks, drawn_sizes
from npt.seeding import generator_for

FIELDS = (
    "update",
    "learning_rate",
    "train_objective",
    "context_log_likelihood",
    "target_log_likelihood",
    "seconds",
)


class Process(Protocol):
    """A network that predicts targets given a context."""

    def objective(self, tasks: Tasks, generator: torch.Generator | None = None) -> Tensor:
        """What training maximises."""
        ...

    def predict(
        self,
        tasks: Tasks,
        draws: int = 1,
        generator: torch.Generator | None = None,
    ) -> Gaussians:
        """Distributions (S, B, n) of all targets."""
        ...


class TaskSource(Protocol):
    """Where training tasks come from."""

    def drawn(self, tables: int, generator: torch.Generator) -> Tasks:
        """A batch of tasks."""
        ...


class Curves:
    """Curves of a Gaussian process, drawn anew for every batch."""

    def __init__(self, kernel: Kernel, settings: TrainingSettings) -> None:
        self.kernel: Kernel = kernel
        self.settings = settings

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
        numbers = torch.randint(
            len(self.tables),
            (tables,),
            generator=generator,
            device=device,
        )
        rows: list[np.ndarray] = []
        for number in numbers.tolist():
            of_table = self.tables[number]
            order = torch.randperm(len(of_table), generator=generator, device=device)
            rows.append(of_table[order[:points].cpu().numpy()])
        return self.data.tasks(np.stack(rows), context)


def source_of(data: Realisations, settings: TrainingSettings) -> TaskSource:
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


class LogLikelihoods(NamedTuple):
    """Mean log density of the context points, and of the other targets, in nats."""

    context: float
    target: float


@torch.no_grad()
def log_likelihoods(
    model: Process,
    batches: Iterable[Tasks],
    draws: int,
    seed: int,
) -> LogLikelihoods:
    """Means over all points of the tasks, each under its marginal distribution."""
    sums = torch.zeros(2, dtype=torch.float64)
    counts = torch.zeros(2, dtype=torch.float64)
    for number, tasks in enumerate(batches):
        generator = generator_for(seed, "latents", tasks.x.device, number)
        densities = model.predict(tasks, draws, generator).log_likelihoods(tasks.y)  # (B, n)
        for side, part in enumerate((densities[:, : tasks.context], densities[:, tasks.context :])):
            sums[side] += part.double().sum().cpu()
            counts[side] += part.numel()
    context, target = (sums / counts).tolist()
    return LogLikelihoods(context, target)


def learning_rate(update: int, settings: TrainingSettings) -> float:
    """Learning rate of update t = 1 .. T."""
    if settings.schedule == "constant":
        return settings.learning_rate
    progress = (update - 1) / settings.updates
    return settings.learning_rate * 0.5 * (1 + math.cos(math.pi * progress))


def train(
    model: Any,
    source: TaskSource,
    validation: list[Tasks],
    settings: TrainingSettings,
    seed: int,
    *,
    checkpoint: Checkpoint | None = None,
    metrics: Path | None = None,
) -> TrainingState:
    """Train the model, which ends with its last weights.

    Args:
        model: A `Process` that is a module.
        checkpoint: Read at the start and written at intervals. A resumed training ends with
            bit-identical weights.
        metrics: Path of a CSV with a row for every evaluation.
    """
    device = next(model.parameters()).device
    state = TrainingState(model)
    if checkpoint:
        state.restore(checkpoint.read())
    progress = Progress(settings.updates, state.update, metrics, FIELDS)
    with closing(progress), written_when_terminated(checkpoint):
        for number in range(state.update + 1, settings.updates + 1):
            tasks = source.drawn(
                settings.batch_tables, generator_for(seed, "tasks", device, number)
            )
            rate = learning_rate(number, settings)
            objective = model.objective(tasks, generator_for(seed, "noise", device, number))
            state.step(-objective, rate)
            state.update = number
            progress.updated()
            if number % settings.evaluate_every == 0 or number == settings.updates:
                scores = log_likelihoods(model, validation, settings.draws, seed)
                state.evaluated(scores)
                values = (number, rate, float(objective.detach()), *scores)
                progress.evaluated(dict(zip(FIELDS, values, strict=False)))
            if checkpoint and number < settings.updates and checkpoint.due():
                checkpoint.write(state.to_dict())
    model.eval()
    return state


class TrainingState:
    """Weights, Adam's moments, and log-likelihoods after each evaluation.

    Attributes:
        history: Update, seconds, context and target log-likelihood (4,) of each evaluation.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.optimiser = torch.optim.Adam(model.parameters(), fused=True)
        self.update = 0
        self.history: list[list[float]] = []
        self.earlier_seconds = 0.0
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Time of the training, that before an interruption included."""
        return self.earlier_seconds + time.monotonic() - self._started

    def step(self, loss: Tensor, rate: float) -> None:
        """An update of Adam."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()

    def evaluated(self, scores: LogLikelihoods) -> None:
        """Note the scores of an evaluation."""
        self.history.append([self.update, self.seconds, scores.context, scores.target])

    def to_dict(self) -> dict[str, Any]:
        """Tensors and numbers by name."""
        moments = self.optimiser.state_dict()["state"].values()
        return {
            "update": self.update,
            "seconds": self.seconds,
            "weights": list(self.model.state_dict().values()),
            "first": [moment["exp_avg"] for moment in moments],
            "second": [moment["exp_avg_sq"] for moment in moments],
            "history": torch.tensor(self.history, dtype=torch.float64),
        }

    def restore(self, saved: dict[str, Any] | None) -> None:
        """Resume from what `to_dict` returned, if there is anything."""
        if saved is None:
            return
        names = self.model.state_dict()
        self.model.load_state_dict(dict(zip(names, saved["weights"], strict=True)))
        step = torch.tensor(float(saved["update"]))
        states: dict[int, Any] = {}
        pairs = zip(saved["first"], saved["second"], strict=True)
        for number, (first, second) in enumerate(pairs):
            states[number] = {"step": step.clone(), "exp_avg": first, "exp_avg_sq": second}
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": states, "param_groups": groups})
        self.update = saved["update"]
        self.earlier_seconds = saved["seconds"]
        self.history = saved["history"].tolist()
