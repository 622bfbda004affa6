"""Log-likelihoods of a trained process on held-out curves, and the exact posterior's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from npt.nn.gaussian import LOWEST, Gaussians
from npt.processes.curves import INTERVAL, KERNELS, Hyperparameters, posterior
from npt.processes.realisations import Realisations
from npt.processes.settings import Kernel
from npt.processes.tasks import Tasks
from npt.processes.trained import TrainedProcess
from npt.table import Table
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts

BATCH = 16  # curves that are predicted at once
FEWEST = 8  # context points of a curve that is drawn
MOST = 14
DIGITS = 4  # of what is drawn
KERNEL_COLUMN = "kernel"
HYPERPARAMETERS = ("length_scale", "amplitude", "period")
Tensors = dict[str, Tensor]


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

    def ceiling(self, queries: Tensor) -> Gaussians:
        """Exact posterior at inputs (B, q), given the context."""
        x = self.tasks.shown_x.squeeze(-1)
        return posterior(
            self.kernel,
            self.hyperparameters,
            x.double(),
            self.tasks.shown_y.double(),
            queries.double(),
        )


def curve_facts(query: ProbeQuery) -> Facts:
    """Log-likelihoods by kernel, alone and in company, the training, and examples.

    All curves with a probed row are predicted, each with all of its targets.
    """
    model = cast(TrainedProcess, query.model)
    batches = list(_batches(query, model.device))
    update, seconds, context, target = model.history.T.numpy()
    return {
        "kernels": _by_kernel(model, batches),
        "company": _in_company(model, batches, query.options.company),
        "training": {  # log-likelihoods of the validation curves after each evaluation
            "update": rounded(update),
            "seconds": rounded(seconds),
            "context": rounded(context),
            "target": rounded(target),
        },
        "examples": {"curves": _examples(model, batches, query.options)},
        "parameters": model.parameters,
    }


def _batches(query: ProbeQuery, device: torch.device) -> Iterator[Batch]:
    """Held-out curves by kernel and by numbers of points."""
    table = query.table
    data = Realisations.from_table(table, query.split, device)
    probed = np.unique(data.number[query.rows])
    names = [column.name for column in table.columns]
    kernels = table.numbers(names.index(KERNEL_COLUMN))
    levels = table.columns[names.index(KERNEL_COLUMN)].levels
    for tasks, rows in data.held_out("test", BATCH):
        first = rows[:, 0]  # of every curve
        is_probed = np.isin(data.number[first], probed)
        for code, level in enumerate(levels):
            chosen = np.flatnonzero(is_probed & (kernels[first] == code))
            if len(chosen):
                yield Batch(
                    kernel=cast(Kernel, level),
                    tasks=Tasks(
                        x=tasks.x[chosen],
                        y=tasks.y[chosen],
                        context=tasks.context,
                    ),
                    hyperparameters=_hyperparameters(table, first[chosen], device),
                )


def _hyperparameters(table: Table, rows: np.ndarray, device: torch.device) -> Hyperparameters:
    """Those of curves, from a row (B,) of each."""
    values: Tensors = {}
    for column, declared in enumerate(table.columns):
        if declared.name in HYPERPARAMETERS:
            numbers = torch.from_numpy(table.numbers(column)[rows]).double()
            values[declared.name] = numbers.to(device).view(-1, 1, 1)
    return Hyperparameters(**values)


def _by_kernel(model: TrainedProcess, batches: list[Batch]) -> Facts:
    """Means over the points of each kernel: log densities and squared errors."""
    columns: dict[str, list[Any]] = {}
    for kernel in KERNELS:
        parts: dict[str, list[Tensor]] = {}
        for batch in batches:
            if batch.kernel != kernel:
                continue
            for name, values in _point_scores(model, batch).items():
                parts.setdefault(name, []).append(values.flatten())
        if not parts:
            continue
        columns.setdefault("kernel", []).append(kernel)
        for name, tensors in parts.items():
            columns.setdefault(name, []).append(_mean(tensors))
    return columns


def _point_scores(model: TrainedProcess, batch: Batch) -> Tensors:
    """Log densities under the model and the ceilings, and squared errors, by part of the points."""
    tasks = batch.tasks
    predicted = model.gaussians(tasks)
    errors = predicted.marginal_mean() - tasks.y  # (B, n)
    ceiling = batch.ceiling(tasks.x.squeeze(-1))
    floored = Gaussians(
        mean=ceiling.mean,
        deviation=ceiling.deviation.clamp_min(LOWEST),
    )
    y = tasks.y.double()
    values = {
        "": predicted.log_likelihoods(tasks.y),
        "_ceiling": ceiling.log_likelihoods(y),
        "_floored": floored.log_likelihoods(y),
        "_square": errors.square(),
    }
    by_part: Tensors = {}
    for name, points in values.items():
        by_part[f"context{name}"] = points[:, : tasks.context]
        by_part[f"target{name}"] = points[:, tasks.context :]
    return by_part


def _mean(parts: list[Tensor]) -> float:
    return float(torch.cat(parts).double().mean())


def _in_company(model: TrainedProcess, batches: list[Batch], curves: int) -> Facts:
    """Targets of curves of the first kernel, predicted together and one at a time.

    Alone, a target is predicted with the context's points; in company, with all targets.
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
        y = tasks.y[:, tasks.context :]  # (B, q)
        company = model.targets(tasks)
        lonely = _each_alone(model, tasks)
        together.append(company.log_likelihoods(y).flatten())
        alone.append(lonely.log_likelihoods(y).flatten())
        distance = lonely.marginal_mean() - company.marginal_mean()
        moves.append((distance.abs() / company.marginal_deviation()).flatten())
    return {
        "curves": curves - left,
        "targets": len(torch.cat(together)),
        "together": _mean(together),
        "alone": _mean(alone),
        "moved": _mean(moves),
    }


def _each_alone(model: TrainedProcess, tasks: Tasks) -> Gaussians:
    """The same distributions, each predicted without the other targets."""
    means: list[Tensor] = []
    deviations: list[Tensor] = []
    for target in range(tasks.context, tasks.y.shape[1]):
        points = [*range(tasks.context), target]
        single = Tasks(
            x=tasks.x[:, points],
            y=tasks.y[:, points],
            context=tasks.context,
        )
        predicted = model.targets(single)
        means.append(predicted.mean)
        deviations.append(predicted.deviation)
    return Gaussians(
        mean=torch.cat(means, -1),
        deviation=torch.cat(deviations, -1),
    )


def _examples(model: TrainedProcess, batches: list[Batch], options: Any) -> list[Facts]:
    """Predictions of some curves at equally spaced inputs, with the ceiling's.

    Curves with about ten context points come first, of each batch the first curve.
    """
    low, high = INTERVAL
    grid = torch.linspace(low, high, options.points, device=model.device)
    examples: list[Facts] = []
    for kernel in KERNELS:
        candidates = [batch for batch in batches if batch.kernel == kernel]
        few = [batch for batch in candidates if FEWEST <= batch.tasks.context <= MOST]
        for batch in (few or candidates)[: options.shown]:
            examples.append(_example(model, batch, grid))
    return examples


def _example(model: TrainedProcess, batch: Batch, grid: Tensor) -> Facts:
    """The first curve of a batch at the grid (q,)."""
    tasks = batch.tasks.take(slice(0, 1))
    curves = len(batch.tasks.y)
    queries = grid.expand(curves, -1)  # (B, q)
    inputs = grid.view(1, -1, 1)  # (1, q, 1)
    unknown = torch.zeros_like(grid)[None]  # (1, q)
    asked = Tasks(
        x=torch.cat([tasks.shown_x, inputs], 1),
        y=torch.cat([tasks.shown_y, unknown], 1),
        context=tasks.context,
    )
    predicted = model.targets(asked)
    ceiling = batch.ceiling(queries)
    weights = model.model.attention_weights(asked)  # (1, H, m + q, m)
    middle = tasks.context + len(grid) // 2
    heads = weights[0, :, middle]  # (H, m)
    return {
        "kernel": batch.kernel,
        "x": _drawn(tasks.shown_x.squeeze(-1)),
        "y": _drawn(tasks.shown_y),
        "grid": _drawn(grid[None]),
        "mean": _drawn(predicted.marginal_mean()),
        "deviation": _drawn(predicted.marginal_deviation()),
        "ceiling_mean": _drawn(ceiling.marginal_mean()),
        "ceiling_deviation": _drawn(ceiling.marginal_deviation()),
        "attention": [_drawn(head[None]) for head in heads],
    }


def _drawn(values: Tensor) -> list[float | None]:
    """Numbers of the first curve of values (B, n)."""
    first = values[0].double()
    return rounded(first.cpu().numpy(), DIGITS)
