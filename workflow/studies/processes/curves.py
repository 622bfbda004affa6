"""Log-likelihoods of a trained process on held-out curves, and the exact posterior's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from npt.nn.gaussian import LOWEST, Gaussians
from npt.processes.curves import KERNELS, Hyperparameters, posterior
from npt.processes.realisations import Realisations
from npt.processes.settings import Kernel
from npt.processes.tasks import Tasks
from npt.processes.trained import TrainedProcess
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts

BATCH = 16  # curves that are predicted at once
KERNEL_COLUMN = "kernel"
EVALUATION = ("update", "seconds", "context", "target")


def curve_facts(query: ProbeQuery) -> Facts:
    """Log-likelihoods by kernel, alone and in company, and of the training's evaluations.

    All curves with a probed row are predicted, each with all of its targets.
    """
    model = cast(TrainedProcess, query.probe.trained)
    points: dict[str, list[dict[str, Tensor]]] = {kernel: [] for kernel in KERNELS}
    first_kernel = []
    for kernel, tasks, hyperparameters in _batches(query, model.device):
        points[kernel].append(_point_scores(model, kernel, tasks, hyperparameters))
        if kernel == KERNELS[0]:
            first_kernel.append(tasks)
    scores = []
    for kernel, batches in points.items():
        if batches:
            scores.append({"kernel": kernel, **means_of_points(batches)})
    evaluations = zip(EVALUATION, model.history.T.numpy(), strict=True)
    return {
        "kernels": pd.DataFrame(scores).to_dict("list"),
        "company": _in_company(model, first_kernel, query.options.company),
        "training": {name: rounded(values) for name, values in evaluations},
        "parameters": model.parameters,
    }


def _batches(
    query: ProbeQuery, device: torch.device
) -> Iterator[tuple[Kernel, Tasks, Hyperparameters]]:
    """Held-out curves by kernel and by numbers of points, with all values."""
    table = query.table
    data = Realisations.from_table(table, query.split, device)
    columns = {column.name: index for index, column in enumerate(table.columns)}
    kernels = table.numbers(columns[KERNEL_COLUMN])
    levels = table.columns[columns[KERNEL_COLUMN]].levels
    is_probed = np.isin(data.number, data.number[query.rows])
    for tasks, rows in data.held_out("test", BATCH):
        first = rows[:, 0]  # of every curve
        for code, level in enumerate(levels):
            chosen = np.flatnonzero(is_probed[first] & (kernels[first] == code))
            if not len(chosen):
                continue
            values = {}
            for field in fields(Hyperparameters):
                numbers = torch.from_numpy(table.numbers(columns[field.name])[first[chosen]])
                values[field.name] = numbers.double().to(device).view(-1, 1, 1)
            curves = Tasks(tasks.x[chosen], tasks.y[chosen], tasks.context)
            yield cast(Kernel, level), curves, Hyperparameters(**values)


def _point_scores(
    model: TrainedProcess, kernel: Kernel, tasks: Tasks, hyperparameters: Hyperparameters
) -> dict[str, Tensor]:
    """Log densities under the model and the ceilings, and squared errors, by part of the points."""
    predicted = model.gaussians(tasks)
    x = tasks.x.squeeze(-1).double()
    y = tasks.y.double()
    context = slice(0, tasks.context)
    ceiling = posterior(kernel, hyperparameters, x[:, context], y[:, context], x)
    floored = Gaussians(ceiling.mean, ceiling.deviation.clamp_min(LOWEST))
    values = {
        "": predicted.log_likelihoods(tasks.y),
        "_ceiling": ceiling.log_likelihoods(y),
        "_floored": floored.log_likelihoods(y),
        "_square": (predicted.marginal_mean() - tasks.y).square(),
    }
    by_part = {}
    for name, points in values.items():
        by_part[f"context{name}"] = points[:, context]
        by_part[f"target{name}"] = points[:, tasks.context :]
    return by_part


def _in_company(model: TrainedProcess, batches: list[Tasks], curves: int) -> Facts:
    """Targets of some curves, predicted together and one at a time.

    Alone, a target is predicted with the context's points; in company, with all targets.
    """
    scores = []
    left = curves
    targets = 0
    for batch in batches:
        tasks = batch.take(slice(0, left))
        left -= len(tasks.y)
        if not len(tasks.y):
            break
        y = tasks.y[:, tasks.context :]  # (B, q)
        targets += y.numel()
        company = model.targets(tasks)
        together = company.log_likelihoods(y)
        for target in range(y.shape[1]):
            points = [*range(tasks.context), tasks.context + target]
            lonely = model.targets(Tasks(tasks.x[:, points], tasks.y[:, points], tasks.context))
            distance = lonely.marginal_mean()[:, 0] - company.marginal_mean()[:, target]
            scores.append(
                {
                    "together": together[:, target],
                    "alone": lonely.log_likelihoods(y[:, [target]]),
                    "moved": distance.abs() / company.marginal_deviation()[:, target],
                }
            )
    return {"curves": curves - left, "targets": targets, **means_of_points(scores)}


def means_of_points(batches: list[dict[str, Tensor]]) -> dict[str, float]:
    """Mean of each score over the points of all batches."""
    means = {}
    for name in batches[0]:
        points = torch.cat([scores[name].flatten() for scores in batches])
        means[name] = float(points.double().mean())
    return means
