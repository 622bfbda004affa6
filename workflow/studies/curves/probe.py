"""Log-likelihoods of a trained process on held-out curves, and the exact posterior's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from npt.nn.gaussian import Gaussians
from npt.processes.curves import INTERVAL, KERNELS, Hyperparameters, posterior
from npt.processes.realisations import HeldOut, Realisations
from npt.processes.settings import Kernel
from npt.processes.tasks import Tasks
from npt.processes.trained import TrainedProcess
from npt.table import Table
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts

BATCH = 16  # curves that are predicted at once
FEWEST, MOST = 8, 14  # context points of a curve that is drawn
SHOWN_DIGITS = 4


@dataclass(frozen=True)
class Batch:
    """Held-out curves of one kernel with equal numbers of points.

    Attributes:
        tasks: Their points, with all values, in float32.
        hyperparameters: Those of the curves.
    """

    kernel: Kernel
    tasks: Tasks
    hyperparameters: Hyperparameters

    def ceiling(self, queries: Tensor | None = None) -> Gaussians:
        """Exact posterior at inputs (B, q), by default at the targets."""
        x = self.tasks.x[..., 0].double()
        y = self.tasks.y.double()
        context = self.tasks.context
        if queries is None:
            queries = x
        return posterior(
            self.kernel,
            self.hyperparameters,
            x[:, :context],
            y[:, :context],
            queries,
        )


@torch.no_grad()
def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Log-likelihoods by kernel, alone and in company, the training, and examples.

    All curves with a probed row are predicted, each with all of its targets.
    """
    model = cast(TrainedProcess, query.model)
    batches = list(_batches(query, model.device))
    facts: Facts = {
        "kernels": _by_kernel(model, batches),
        "company": _in_company(model, batches, query.options.company),
        "training": _training(model),
        "examples": {"curves": _examples(model, batches, query.options)},
        "parameters": sum(parameter.numel() for parameter in model.model.parameters()),
    }
    facts |= query.test_scores()
    return facts, {}


def _batches(query: ProbeQuery, device: torch.device) -> Iterator[Batch]:
    """Held-out curves by kernel and by numbers of points."""
    table = query.table
    data = Realisations.of(table, query.split, device)
    probed = np.unique(data.number[query.rows])
    names = [column.name for column in table.columns]
    kernel_column = names.index("kernel")
    levels = table.columns[kernel_column].levels
    codes = table.numbers(kernel_column).astype(int)
    for tasks, rows in data.held_out("test", BATCH):
        is_probed = np.isin(data.number[rows[:, 0]], probed)
        for code, level in enumerate(levels):
            chosen = np.flatnonzero(is_probed & (codes[rows[:, 0]] == code))
            if len(chosen):
                part = Tasks(tasks.x[chosen], tasks.y[chosen], tasks.context)
                held_out = HeldOut(part, rows[chosen])
                hyperparameters = _hyperparameters(table, held_out, device)
                yield Batch(cast(Kernel, level), part, hyperparameters)


def _hyperparameters(table: Table, held_out: HeldOut, device: torch.device) -> Hyperparameters:
    """Those of the curves of a batch, from their columns."""
    first = held_out.rows[:, 0]
    names = [column.name for column in table.columns]
    values: dict[str, Tensor] = {}
    for name in Hyperparameters.__dataclass_fields__:
        of_curves = table.numbers(names.index(name))[first]
        values[name] = torch.from_numpy(of_curves).to(device).double().view(-1, 1, 1)
    return Hyperparameters(**values)


def _by_kernel(model: TrainedProcess, batches: list[Batch]) -> dict[str, list[Any]]:
    """Mean log density of the context and of the targets, by kernel, and the ceiling's."""
    columns: dict[str, list[Any]] = {"kernel": []}
    for kernel in KERNELS:
        sums: dict[str, list[Tensor]] = {}
        for batch in batches:
            if batch.kernel == kernel:
                for name, values in _densities(model, batch).items():
                    sums.setdefault(name, []).append(values.flatten())
        if sums:
            columns["kernel"].append(kernel)
            for name, parts in sums.items():
                values = torch.cat(parts).double()
                columns.setdefault(name, []).append(float(values.mean()))
            columns.setdefault("targets", []).append(len(torch.cat(sums["target"])))
    return columns


def _densities(model: TrainedProcess, batch: Batch) -> dict[str, Tensor]:
    """Log densities of the model and of the ceiling, and squared errors at the context."""
    context = batch.tasks.context
    predicted = model.gaussians(batch.tasks)
    of_model = predicted.log_likelihoods(batch.tasks.y)  # (B, n)
    of_ceiling = batch.ceiling().log_likelihoods(batch.tasks.y.double())  # (B, n)
    errors = predicted.marginal_mean() - batch.tasks.y  # (B, n)
    return {
        "context": of_model[:, :context],
        "target": of_model[:, context:],
        "context_ceiling": of_ceiling[:, :context],
        "target_ceiling": of_ceiling[:, context:],
        "context_square": errors[:, :context].square(),
        "target_square": errors[:, context:].square(),
    }


def _in_company(model: TrainedProcess, batches: list[Batch], curves: int) -> dict[str, Any]:
    """Targets of curves of the first kernel, predicted together and one at a time.

    Alone, a target is predicted among the context's points; in company, among all targets.
    """
    together: list[Tensor] = []
    alone: list[Tensor] = []
    moves: list[Tensor] = []
    left = curves
    for batch in batches:
        if batch.kernel != KERNELS[0] or not left:
            continue
        tasks = batch.tasks.take(slice(0, left))
        left -= len(tasks.y)
        context = tasks.context
        company = model.gaussians(tasks)
        means = company.marginal_mean()[:, context:]  # (B, q)
        deviations = company.marginal_deviation()[:, context:]
        lonely = [_lonely(model, tasks, i) for i in range(context, tasks.y.shape[1])]
        lonely_means = torch.cat([gaussians.marginal_mean()[:, -1:] for gaussians in lonely], 1)
        for gaussians, i in zip(lonely, range(context, tasks.y.shape[1]), strict=True):
            single = Gaussians(gaussians.mean[..., -1:], gaussians.deviation[..., -1:])
            alone.append(single.log_likelihoods(tasks.y[:, i : i + 1]).flatten())
        together.append(company.log_likelihoods(tasks.y)[:, context:].flatten())
        moves.append(((lonely_means - means).abs() / deviations).flatten())
    return {
        "curves": curves - left,
        "targets": len(torch.cat(together)),
        "together": float(torch.cat(together).double().mean()),
        "alone": float(torch.cat(alone).double().mean()),
        "moved": float(torch.cat(moves).double().mean()),
    }


def _lonely(model: TrainedProcess, tasks: Tasks, target: int) -> Gaussians:
    """Distributions of the context's points and of one target."""
    points = [*range(tasks.context), target]
    return model.gaussians(Tasks(tasks.x[:, points], tasks.y[:, points], tasks.context))


def _training(model: TrainedProcess) -> dict[str, list[float | None]]:
    """Log-likelihoods of the validation curves after each evaluation of the training."""
    history = model.history.T.numpy()
    names = ("update", "seconds", "context", "target")
    return {name: rounded(values) for name, values in zip(names, history, strict=True)}


def _examples(model: TrainedProcess, batches: list[Batch], options: Any) -> list[dict[str, Any]]:
    """Predictions of some curves at equally spaced inputs, with the ceiling's."""
    low, high = INTERVAL
    grid = torch.linspace(low, high, options.points, device=model.device)
    examples: list[dict[str, Any]] = []
    for kernel in KERNELS:
        for batch in _drawable(batches, kernel)[: options.shown]:
            examples.append(_example(model, batch, grid))
    return examples


def _drawable(batches: list[Batch], kernel: Kernel) -> list[Batch]:
    """Batches of a kernel with about ten context points, of which the first curve is drawn."""
    of_kernel = [batch for batch in batches if batch.kernel == kernel]
    few = [batch for batch in of_kernel if FEWEST <= batch.tasks.context <= MOST]
    return few or of_kernel


def _example(model: TrainedProcess, batch: Batch, grid: Tensor) -> dict[str, Any]:
    context = batch.tasks.context
    one = batch.tasks.take(slice(0, 1))
    x = torch.cat([one.shown_x, grid[None, :, None]], 1)  # (1, m + q, 1)
    y = torch.cat([one.shown_y, torch.zeros_like(grid)[None]], 1)  # (1, m + q)
    asked = Tasks(x, y, context)
    predicted = model.gaussians(asked)
    ceiling = batch.ceiling(grid.double().expand(len(batch.tasks.y), -1))
    weights = model.model.attention_weights(asked)[0, :, context:]  # (H, q, m)
    values = {
        "x": one.shown_x[0, :, 0],
        "y": one.shown_y[0],
        "grid": grid,
        "mean": predicted.marginal_mean()[0, context:],
        "deviation": predicted.marginal_deviation()[0, context:],
        "ceiling_mean": ceiling.mean[0, 0],
        "ceiling_deviation": ceiling.deviation[0, 0],
    }
    example: dict[str, Any] = {"kernel": batch.kernel}
    for name, tensor in values.items():
        example[name] = rounded(tensor.double().cpu().numpy(), SHOWN_DIGITS)
    middle = len(grid) // 2
    heads = weights[:, middle].double().cpu().numpy()
    example["attention"] = [rounded(head, SHOWN_DIGITS) for head in heads]
    return example
