"""Tuning of relevances, lengths and ridges by the leave-one-out error."""

from __future__ import annotations

import torch
from torch import Tensor

from npt.solved.cells import Cells
from npt.solved.kernels import PRODUCTS, SUMS, Kernel, Parameters, initial_parameters
from npt.solved.settings import SolvedSettings
from npt.solved.solve import solve

BETAS = (0.8, 0.95)
LEAST_RIDGE = 3e-3  # below it, float32 rounds too much
LARGEST_FACTOR = 20.0  # of a ridge
LEAST_ERROR = 1e-5  # of numbers, in units of their variance
FEW_ROWS = 100  # of a classification: with half of them, the pull is four times as strong


def heads(settings: SolvedSettings) -> tuple[Kernel, ...]:
    """Kernels of the heads."""
    return SUMS + PRODUCTS if settings.products else SUMS


def head_parameters(parameters: Parameters, head: int) -> Parameters:
    """Those of one head."""
    return {name: values[head] for name, values in parameters.items()}


def ridges(factor: Tensor, settings: SolvedSettings) -> list[Tensor]:
    """Ridges of a head, from the logarithm of its tuned factor."""
    factor = factor.exp().clamp(max=LARGEST_FACTOR)
    return [(ridge * factor).clamp(min=LEAST_RIDGE) for ridge in settings.ridges]


def tune(
    cells: Cells,
    targets: Tensor,
    weights: Tensor,
    settings: SolvedSettings,
    groups: Tensor | None = None,
) -> Parameters:
    """Take steps down the logarithm of the leave-one-out error, summed over heads.

    Args:
        cells: Context rows.
        targets: (m, C): numbers with a variance of one, or one-hot classes minus their shares.
        weights: (m,).
        groups: Codes (m,) of rows that are left out together.

    Returns:
        Parameters of all heads in float64.
    """
    precision = cells.scores.dtype
    in_order = ordered_by_labels(cells, targets)
    cells = cells.to(cells.scores.device, torch.float32)
    targets = targets.float()
    weights = weights.float()
    kernels = heads(settings)
    parameters = initial_parameters(len(kernels), cells)
    for values in parameters.values():
        values.requires_grad_()
    optimiser = torch.optim.Adam(parameters.values(), settings.rate, BETAS)
    generator = torch.Generator().manual_seed(settings.seed)
    pull = settings.pull
    if targets.shape[1] == 1:
        pull *= min(1.0, settings.pull_rows / float(weights.sum()))
    else:
        pull *= max(1.0, FEW_ROWS / float(weights.sum())) ** 2
    for step in range(settings.steps):
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * (1 - step / settings.steps)
        places = sample(len(targets), settings.tuned_rows, generator)
        rows = in_order[places.to(targets.device)]
        part = cells.take(rows)
        shares = weights[rows] / weights[rows].sum()
        together = None if groups is None else groups[rows]
        penalties = [values.square().sum() for values in parameters.values()]
        loss = pull * torch.stack(penalties).sum()
        for head, kernel in enumerate(kernels):
            tuned = head_parameters(parameters, head)
            near = kernel(tuned, part, part)
            for ridge in ridges(tuned["ridge"], settings):
                solution = solve(near, ridge, weights[rows], together)
                error = shares @ solution.residuals(targets[rows]).square().sum(1)
                loss = loss + 0.5 * (error + LEAST_ERROR).log() / len(settings.ridges)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return {name: values.detach().to(precision) for name, values in parameters.items()}


def ordered(cells: Cells) -> Tensor:
    """Indices (m,) that order rows by their features, from which landmarks are drawn.

    So the order of a table's columns does not change which rows are drawn.
    """
    rows = len(cells.scores)
    shares = cells.scores.new_full((rows,), 1 / rows)
    return (cells.scores.sum(1) + _sums_of_levels(cells, shares)).argsort(stable=True)


def ordered_by_labels(cells: Cells, targets: Tensor) -> Tensor:
    """Indices (m,) that order rows by a first prediction, from which those of a step are drawn."""
    numbers = targets @ torch.arange(1, targets.shape[1] + 1).to(targets)
    predicted = cells.scores @ (cells.scores.T @ numbers)
    return (predicted + _sums_of_levels(cells, numbers)).argsort(stable=True)


def _sums_of_levels(cells: Cells, numbers: Tensor) -> Tensor:
    """Sums (m,) over the categories of a row of the numbers (m,) of all rows with that level."""
    sums = torch.zeros_like(numbers)
    for codes in cells.codes.T:
        levels = codes.unique(return_inverse=True)[1]
        sums += torch.bincount(levels, numbers)[levels]
    return sums


def sample(rows: int, most: int, generator: torch.Generator) -> Tensor:
    """At most so many of some rows, at random, in ascending order."""
    return torch.randperm(rows, generator=generator)[:most].sort().values
