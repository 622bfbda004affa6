"""The largest influence of one row on another's prediction that gradient ascent finds.

n rows, d columns, q copies of the input that are changed together.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from npt.nn.device import arithmetic, autocast
from npt.nn.inputs import ModelInput
from npt.nn.queries import QueryBatch
from npt.nn.trained import TrainedNPT

FIRST_STEP = 0.5  # of a column's range
DECAY = 0.8


@dataclass(frozen=True)
class CellRange:
    """What another row's cells may be changed to: what the visible cells of a column are.

    Attributes:
        lowest: Smallest standardised number (d,).
        highest: Largest one (d,).
    """

    lowest: Tensor
    highest: Tensor

    @classmethod
    def of(cls, inputs: ModelInput) -> CellRange:
        """Ranges over the rows of an input (1, n, d); 0 for a column without a visible cell."""
        hidden = inputs.mask[0] == 1
        numbers = inputs.scale[0]
        lowest = numbers.masked_fill(hidden, torch.inf).amin(0)
        highest = numbers.masked_fill(hidden, -torch.inf).amax(0)
        known = lowest <= highest
        zero = torch.zeros_like(lowest)
        return cls(torch.where(known, lowest, zero), torch.where(known, highest, zero))

    @property
    def widths(self) -> Tensor:
        """Largest change (d,) of a number."""
        return self.highest - self.lowest


def largest_influence(
    trained: TrainedNPT,
    batch: QueryBatch,
    query: int,
    *,
    rows: int,
    steps: int,
) -> float:
    """Largest change of a query's prediction by a change of one other row.

    Of a standardised value, or of the probability of the class that is predicted.

    The rows with the largest gradients are changed, in both directions. Visible numbers move by
    signs of gradients, within the range of their columns; then each visible category takes the
    class that moves the prediction most. Hidden cells stay hidden.

    Args:
        query: Index of the query in the batch.
        rows: Number of rows that are tried.
        steps: Steps of the ascent.
    """
    search = _Search(trained, batch.inputs, query)
    chosen = search.most_sensitive(rows)
    return max(search.ascend(chosen, steps), search.swap_classes(chosen))


class _Search:
    def __init__(self, trained: TrainedNPT, inputs: ModelInput, query: int) -> None:
        self.trained = trained
        self.inputs = inputs
        self.query = query
        self.ranges = CellRange.of(inputs)
        self.continuous = trained.data.continuous  # (d,)
        self.predicted_class: int | None = None
        with torch.no_grad():
            if trained.task != "regression":
                self.predicted_class = int(self._targets(inputs).argmax())
            self.before = self.outputs(inputs)  # (1,)

    def outputs(self, inputs: ModelInput) -> Tensor:
        """Predictions (q,) of the query in every copy."""
        targets = self._targets(inputs)  # (q, C)
        if self.predicted_class is None:
            return targets[:, 0]
        return targets.softmax(-1)[:, self.predicted_class]

    def _targets(self, inputs: ModelInput) -> Tensor:
        trained = self.trained
        copies = len(inputs.codes)
        queries = torch.full((copies, 1), self.query, device=trained.device)
        with (
            arithmetic(trained.settings, trained.device),
            autocast(trained.settings, trained.device),
        ):
            return trained.model.predict_target(inputs, queries)[:, 0].float()

    def most_sensitive(self, count: int) -> Tensor:
        """Other rows with the largest gradients times the ranges of their columns."""
        scale = self.inputs.scale.detach().clone().requires_grad_()
        changed = ModelInput(self.inputs.codes, scale, self.inputs.mask)
        (gradient,) = torch.autograd.grad(self.outputs(changed).sum(), scale)
        widths = torch.where(self.continuous, self.ranges.widths, 1.0)
        reach = (gradient[0].abs() * widths).masked_fill(self.inputs.mask[0] == 1, 0).sum(1)
        reach[self.query] = -1.0
        count = min(count, len(reach) - 1)
        return reach.topk(count).indices

    def ascend(self, rows: Tensor, steps: int) -> float:
        """Largest change by numbers: two copies for each row, up and down."""
        changed = rows.repeat(2)
        signs = torch.ones(len(changed), device=changed.device)
        signs[len(rows) :] = -1.0
        inputs = self._copies(len(changed))
        copy = torch.arange(len(changed), device=changed.device)
        movable = self.continuous & (inputs.mask[copy, changed] == 0)  # (q, d)
        step = FIRST_STEP * self.ranges.widths
        largest = 0.0
        for _ in range(steps):
            scale = inputs.scale.detach().requires_grad_()
            outputs = self.outputs(ModelInput(inputs.codes, scale, inputs.mask))
            moved = (outputs - self.before).detach().abs().max()
            largest = max(largest, moved.item())
            (gradient,) = torch.autograd.grad((signs * outputs).sum(), scale)
            direction = gradient[copy, changed].sign()
            moved_cells = scale.detach()[copy, changed] + step * direction
            moved_cells = moved_cells.clamp(self.ranges.lowest, self.ranges.highest)
            cells = torch.where(movable, moved_cells, scale.detach()[copy, changed])
            values = scale.detach().clone()
            values[copy, changed] = cells
            inputs = ModelInput(inputs.codes, values, inputs.mask)
            step = step * DECAY
        with torch.no_grad():
            moved = (self.outputs(inputs) - self.before).abs().max()
        self.reached = inputs
        return max(largest, moved.item())

    def swap_classes(self, rows: Tensor) -> float:
        """Largest change when, after the ascent, categories are changed one column at a time."""
        inputs = self.reached
        changed = rows.repeat(2)
        copy = torch.arange(len(changed), device=changed.device)
        sizes = self.trained.data.sizes
        with torch.no_grad():
            best = (self.outputs(inputs) - self.before).abs()  # (q,)
            for column in (~self.continuous).nonzero()[:, 0].tolist():
                visible = inputs.mask[copy, changed, column] == 0
                for code in range(int(sizes[column])):
                    codes = inputs.codes.clone()
                    codes[copy, changed, column] = code
                    moved = self.outputs(ModelInput(codes, inputs.scale, inputs.mask))
                    distance = (moved - self.before).abs()
                    better = visible & (distance > best)
                    chosen = torch.where(better[:, None, None], codes, inputs.codes)
                    inputs = ModelInput(chosen, inputs.scale, inputs.mask)
                    best = torch.where(better, distance, best)
        return best.max().item()

    def _copies(self, count: int) -> ModelInput:
        inputs = self.inputs
        return ModelInput(
            codes=inputs.codes.expand(count, -1, -1).clone(),
            scale=inputs.scale.expand(count, -1, -1).clone(),
            mask=inputs.mask.expand(count, -1, -1).clone(),
        )
