"""Log-likelihoods of a trained process on held-out curves, and the exact posterior's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from npt.nn.gaussian import LOWEST, Gaussians
from npt.processes.curves import INTERVAL, KERNELS, Hyperparameters, posterior
from npt.processes.realisations import Realisations
from npt.processes.settings import Kernel
from npt.processes.tasks import Tasks
from npt.processes.trained import TrainedProcess
from workflow.studies.processes.tasks import means_of_points
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts

BATCH = 16  # curves that are predicted at once
FEWEST = 8  # context points of a curve that is drawn
MOST = 14
GRID = 81  # inputs at which it is predicted
DIGITS = 4  # of what is drawn
KERNEL_COLUMN = "kernel"
HYPERPARAMETERS = ("length_scale", "amplitude", "period")


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
        return posterior(
            self.kernel,
            self.hyperparameters,
            self.tasks.shown_x.squeeze(-1).double(),
            self.tasks.shown_y.double(),
            queries.double(),
        )


def curve_facts(query: ProbeQuery) -> Facts:
    """Log-likelihoods by kernel, alone and in company, the training, and an example of each kernel.

    All curves with a probed row are predicted, each with all of its targets.
    """
    model = cast(TrainedProcess, query.model)
    batches = list(_batches(query, model.device))
    scores = []
    examples = []
    for kernel in KERNELS:
        batches_of_kernel = [batch for batch in batches if batch.kernel == kernel]
        if batches_of_kernel:
            points = [_point_scores(model, batch) for batch in batches_of_kernel]
            scores.append({"kernel": kernel, **means_of_points(points)})
            examples.append(_example(model, batches_of_kernel))
    update, seconds, context, target = model.history.T.numpy()
    first_kernel = [batch for batch in batches if batch.kernel == KERNELS[0]]
    return {
        "kernels": pd.DataFrame(scores).to_dict("list"),
        "company": _in_company(model, first_kernel, query.options.company),
        "training": {  # log-likelihoods of the validation curves after each evaluation
            "update": rounded(update),
            "seconds": rounded(seconds),
            "context": rounded(context),
            "target": rounded(target),
        },
        "examples": {"curves": examples},
        "parameters": model.parameters,
    }


def _batches(query: ProbeQuery, device: torch.device) -> Iterator[Batch]:
    """Held-out curves by kernel and by numbers of points."""
    table = query.table
    data = Realisations.from_table(table, query.split, device)
    probed = np.unique(data.number[query.rows])
    columns = {column.name: index for index, column in enumerate(table.columns)}
    kernels = table.numbers(columns[KERNEL_COLUMN])
    levels = table.columns[columns[KERNEL_COLUMN]].levels
    for tasks, rows in data.held_out("test", BATCH):
        first = rows[:, 0]  # of every curve
        is_probed = np.isin(data.number[first], probed)
        for code, level in enumerate(levels):
            chosen = np.flatnonzero(is_probed & (kernels[first] == code))
            if not len(chosen):
                continue
            hyperparameters = {}
            for name in HYPERPARAMETERS:
                values = torch.from_numpy(table.numbers(columns[name])[first[chosen]])
                hyperparameters[name] = values.double().to(device).view(-1, 1, 1)
            yield Batch(
                kernel=cast(Kernel, level),
                tasks=Tasks(tasks.x[chosen], tasks.y[chosen], tasks.context),
                hyperparameters=Hyperparameters(**hyperparameters),
            )


def _point_scores(model: TrainedProcess, batch: Batch) -> dict[str, Tensor]:
    """Log densities under the model and the ceilings, and squared errors, by part of the points."""
    tasks = batch.tasks
    predicted = model.gaussians(tasks)
    ceiling = batch.ceiling(tasks.x.squeeze(-1))
    floored = Gaussians(ceiling.mean, ceiling.deviation.clamp_min(LOWEST))
    values = {
        "": predicted.log_likelihoods(tasks.y),
        "_ceiling": ceiling.log_likelihoods(tasks.y.double()),
        "_floored": floored.log_likelihoods(tasks.y.double()),
        "_square": (predicted.marginal_mean() - tasks.y).square(),
    }
    by_part = {}
    for name, points in values.items():
        by_part[f"context{name}"] = points[:, : tasks.context]
        by_part[f"target{name}"] = points[:, tasks.context :]
    return by_part


def _in_company(model: TrainedProcess, batches: list[Batch], curves: int) -> Facts:
    """Targets of some curves, predicted together and one at a time.

    Alone, a target is predicted with the context's points; in company, with all targets.
    """
    scores = []
    left = curves
    targets = 0
    for batch in batches:
        tasks = batch.tasks.take(slice(0, left))
        if not left:
            break
        left -= len(tasks.y)
        y = tasks.y[:, tasks.context :]  # (B, q)
        targets += y.numel()
        company = model.targets(tasks)
        lonely = _each_alone(model, tasks)
        distance = lonely.marginal_mean() - company.marginal_mean()
        scores.append(
            {
                "together": company.log_likelihoods(y),
                "alone": lonely.log_likelihoods(y),
                "moved": distance.abs() / company.marginal_deviation(),
            }
        )
    return {"curves": curves - left, "targets": targets, **means_of_points(scores)}


def _each_alone(model: TrainedProcess, tasks: Tasks) -> Gaussians:
    """The same distributions, each predicted without the other targets."""
    predictions = []
    for target in range(tasks.context, tasks.y.shape[1]):
        points = [*range(tasks.context), target]
        predictions.append(
            model.targets(Tasks(tasks.x[:, points], tasks.y[:, points], tasks.context))
        )
    return Gaussians(
        mean=torch.cat([predicted.mean for predicted in predictions], -1),
        deviation=torch.cat([predicted.deviation for predicted in predictions], -1),
    )


def _example(model: TrainedProcess, batches: list[Batch]) -> Facts:
    """Predictions of a curve at equally spaced inputs, with the ceiling's.

    It is the first one with about ten context points, else the first.
    """
    few = [batch for batch in batches if FEWEST <= batch.tasks.context <= MOST]
    (batch, *_) = few or batches
    tasks = batch.tasks.take(slice(0, 1))
    low, high = INTERVAL
    grid = torch.linspace(low, high, GRID, device=model.device)
    unknown = torch.zeros_like(grid)[None]  # (1, q)
    asked = Tasks(
        x=torch.cat([tasks.shown_x, grid.view(1, -1, 1)], 1),
        y=torch.cat([tasks.shown_y, unknown], 1),
        context=tasks.context,
    )
    predicted = model.targets(asked)
    ceiling = batch.ceiling(grid.expand(len(batch.tasks.y), -1))
    numbers = {
        "x": tasks.shown_x.squeeze(-1),
        "y": tasks.shown_y,
        "grid": grid[None],
        "mean": predicted.marginal_mean(),
        "deviation": predicted.marginal_deviation(),
        "ceiling_mean": ceiling.marginal_mean(),
        "ceiling_deviation": ceiling.marginal_deviation(),
    }
    facts: Facts = {"kernel": batch.kernel}
    for name, values in numbers.items():
        facts[name] = rounded(values[0].double().cpu().numpy(), DIGITS)
    return facts
