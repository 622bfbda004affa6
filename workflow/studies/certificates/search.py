"""The largest influence of one row on another's prediction that gradient ascent finds.

n rows, d columns, q copies of the input, in each of which another row is changed.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor

from npt.nn.device import arithmetic
from npt.nn.inputs import ModelInput
from npt.nn.trained import QueryBatch, TrainedNPT

FIRST_STEP = 0.5  # of a column's range
DECAY = 0.8


def cell_range(inputs: ModelInput) -> tuple[Tensor, Tensor]:
    """Smallest and largest visible number (d,) of each column; 0 for a column without any."""
    hidden = inputs.mask[0] == 1
    lowest = inputs.scale[0].masked_fill(hidden, torch.inf).amin(0)
    highest = inputs.scale[0].masked_fill(hidden, -torch.inf).amax(0)
    unknown = lowest > highest
    return lowest.masked_fill(unknown, 0.0), highest.masked_fill(unknown, 0.0)


def like_query(
    inputs: ModelInput, query: int, rows: Tensor, directions: Tensor
) -> tuple[Tensor, Tensor]:
    """Numbers and classes (q, d) of rows with those of the query in their visible cells.

    Numbers that it hides are the highest of their column where `directions` (q, 1) is 1, else the
    lowest.
    """
    lowest, highest = cell_range(inputs)
    visible = inputs.mask[0, rows] == 0
    is_known = inputs.mask[0, query] == 0  # (d,)
    extremes = torch.where(directions > 0, highest, lowest)
    neighbours = torch.where(is_known, inputs.scale[0, query], extremes)
    numbers = torch.where(visible, neighbours, inputs.scale[0, rows])
    codes = torch.where(is_known & visible, inputs.codes[0, query], inputs.codes[0, rows])
    return numbers, codes


def largest_influence(
    trained: TrainedNPT, batch: QueryBatch, query: int, *, rows: int, steps: int
) -> float:
    """Largest change of a query's prediction by a change of one other row.

    Of a standardised value, or of the probability of the class that is predicted.

    The rows with the largest gradients are changed, in both directions, as they are and as
    neighbours of the query with an extreme label. Visible numbers move by signs of gradients,
    within the range of their columns; then each visible category takes the class that moves the
    prediction most. Hidden cells stay hidden. In double precision, since influence may be below
    the rounding of single precision.

    Args:
        query: Index of the query in the batch.
        rows: Number of rows that are tried.
        steps: Steps of an ascent.
    """
    numbers = batch.inputs.scale.double().requires_grad_()
    inputs = ModelInput(batch.inputs.codes, numbers, batch.inputs.mask.double())
    model = deepcopy(trained.model).double()

    def targets(copies: ModelInput) -> Tensor:
        """Target outputs (q, C) in every copy: values, or probabilities of classes."""
        queries = torch.full((len(copies.codes), 1), query, device=trained.device)
        with arithmetic(trained.settings, trained.device):
            outputs = model.predict_target(copies, queries)[:, 0]
        return outputs if trained.task == "regression" else outputs.softmax(-1)

    before = targets(inputs)[0]
    target = int(before.argmax())  # the class whose probability counts; 0 in regression
    (gradient,) = torch.autograd.grad(before[target], numbers)  # (1, n, d)
    inputs = inputs._replace(scale=numbers.detach())
    continuous = trained.data.continuous
    lowest, highest = cell_range(inputs)
    widths = torch.where(continuous, highest - lowest, 1.0)
    reach = (gradient[0].abs() * widths).masked_fill(inputs.mask[0] == 1, 0.0).sum(1)
    reach[query] = -1.0
    most_sensitive = reach.topk(min(rows, len(reach) - 1)).indices
    changed = most_sensitive.repeat(2)  # (q,), a row in each copy
    copy = torch.arange(len(changed), device=changed.device)
    directions = torch.where(copy < len(most_sensitive), 1.0, -1.0)[:, None]
    visible = inputs.mask[0, changed] == 0

    def changes(numbers: Tensor, codes: Tensor) -> Tensor:
        """Changes (q,) of the prediction by other numbers and classes (q, d)."""
        shape = (len(changed), 1, 1)
        copies = ModelInput(
            codes=inputs.codes.repeat(shape).index_put((copy, changed), codes),
            scale=inputs.scale.repeat(shape).index_put((copy, changed), numbers),
            mask=inputs.mask.expand(len(changed), -1, -1),
        )
        return targets(copies)[:, target] - before[target].detach()

    largest = 0.0
    unchanged = inputs.scale[0, changed], inputs.codes[0, changed]
    for numbers, codes in (unchanged, like_query(inputs, query, changed, directions)):
        step = FIRST_STEP * (highest - lowest)
        for _ in range(steps):
            numbers = numbers.detach().requires_grad_()
            movements = changes(numbers, codes)
            largest = max(largest, float(movements.detach().abs().max()))
            (gradient,) = torch.autograd.grad(movements.sum(), numbers)
            moved = (numbers + directions * step * gradient.sign()).clamp(lowest, highest)
            numbers = torch.where(visible & continuous, moved, numbers)
            step = step * DECAY
        with torch.no_grad():
            best = changes(numbers, codes).abs()
            for column in (~continuous).nonzero().flatten().tolist():
                for code in range(int(trained.data.sizes[column])):
                    swapped = codes.clone()
                    swapped[:, column] = code
                    swaps = changes(numbers, swapped).abs()
                    better = visible[:, column] & (swaps > best)
                    codes = torch.where(better[:, None], swapped, codes)
                    best = torch.where(better, swaps, best)
        largest = max(largest, float(best.max()))
    return largest
