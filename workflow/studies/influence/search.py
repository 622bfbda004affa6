"""The largest influence of one row on another's prediction that gradient ascent finds.

n rows, d columns, q copies of the input, in each of which another row is changed.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from npt.nn.device import arithmetic
from npt.nn.inputs import ModelInput
from npt.nn.trained import QueryBatch, TrainedNPT

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
        unknown = lowest > highest
        return cls(
            lowest=lowest.masked_fill(unknown, 0.0),
            highest=highest.masked_fill(unknown, 0.0),
        )

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
    inputs = _in_double_precision(batch.inputs)
    asked = AskedQuery.of(trained, inputs, query)
    ranges = CellRange.of(inputs)
    chosen = _most_sensitive(asked, inputs, ranges, rows)
    unchanged = ChangedRows.of(inputs, chosen)
    largest = 0.0
    for start in (unchanged, unchanged.like(query, ranges)):
        movement, changed = _ascend(asked, start, ranges, steps)
        largest = max(largest, movement, _swap_classes(asked, changed))
    return largest


def _in_double_precision(inputs: ModelInput) -> ModelInput:
    return replace(inputs, scale=inputs.scale.double(), mask=inputs.mask.double())


@dataclass(frozen=True)
class AskedQuery:
    """A query whose prediction is moved.

    Attributes:
        predicted_class: The class whose probability counts; None in regression.
        before: Its prediction as it is.
    """

    trained: TrainedNPT
    query: int
    predicted_class: int | None = None
    before: float = 0.0

    @classmethod
    def of(
        cls,
        trained: TrainedNPT,
        inputs: ModelInput,
        query: int,
    ) -> AskedQuery:
        """The query in an input (1, n, d), of a copy of the model in double precision."""
        model = deepcopy(trained.model).double()
        asked = cls(replace(trained, model=model), query)
        with torch.no_grad():
            if trained.task != "regression":
                logits = asked.targets(inputs)
                asked = replace(asked, predicted_class=int(logits.argmax()))
            before = asked.predictions(inputs)
        return replace(asked, before=float(before))

    def predictions(self, inputs: ModelInput) -> Tensor:
        """Predictions (q,) in every copy (q, n, d)."""
        targets = self.targets(inputs)
        if self.predicted_class is None:
            return targets[:, 0]
        probabilities = targets.softmax(-1)
        return probabilities[:, self.predicted_class]

    def targets(self, inputs: ModelInput) -> Tensor:
        """Target outputs (q, C) in every copy."""
        trained = self.trained
        device = trained.device
        copies = len(inputs.codes)
        queries = torch.full((copies, 1), self.query, device=device)
        with arithmetic(trained.settings, device):
            outputs = trained.model.predict_target(inputs, queries)
        return outputs[:, 0]

    def movements(self, inputs: ModelInput) -> Tensor:
        """Absolute changes (q,) of the prediction."""
        return (self.predictions(inputs) - self.before).abs()


@dataclass(frozen=True)
class ChangedRows:
    """Copies of an input, in each of which one row is changed.

    Attributes:
        inputs: The copies (q, n, d).
        rows: Indices of the changed rows (q,).
    """

    inputs: ModelInput
    rows: Tensor

    @classmethod
    def of(cls, inputs: ModelInput, rows: Tensor) -> ChangedRows:
        """Two unchanged copies for each row: one to move up, and one down."""
        twice = rows.repeat(2)
        shape = (len(twice), -1, -1)
        copies = ModelInput(
            codes=inputs.codes.expand(shape),
            scale=inputs.scale.expand(shape),
            mask=inputs.mask.expand(shape),
        )
        return cls(copies, twice)

    @property
    def directions(self) -> Tensor:
        """1 for the copies (q,) that are moved up, -1 for the others."""
        ones = torch.ones(len(self.rows) // 2, device=self.rows.device)
        return torch.cat([ones, -ones])

    @property
    def visible(self) -> Tensor:
        """Which cells (q, d) of the changed rows are visible."""
        return self.cells(self.inputs.mask) == 0

    def like(self, query: int, ranges: CellRange) -> ChangedRows:
        """The changed rows with the visible cells of a query.

        Numbers that it hides are the highest of their column in the copies that are moved up, and
        the lowest in the others.
        """
        inputs = self.inputs
        shown = inputs.mask[0, query] == 0  # (d,)
        is_up = self.directions[:, None] > 0
        extremes = torch.where(is_up, ranges.highest, ranges.lowest)  # (q, d)
        numbers = torch.where(shown, inputs.scale[0, query], extremes)
        visible = self.visible  # (q, d)
        numbers = torch.where(visible, numbers, self.cells(inputs.scale))
        own_codes = self.cells(inputs.codes)
        codes = torch.where(shown & visible, inputs.codes[0, query], own_codes)
        return self.with_numbers(numbers).with_codes(codes)

    def cells(self, values: Tensor) -> Tensor:
        """Values (q, d) of the changed rows, of values (q, n, d)."""
        copies = torch.arange(len(self.rows), device=self.rows.device)
        return values[copies, self.rows]

    def with_numbers(self, cells: Tensor) -> ChangedRows:
        """Other numbers (q, d) in the changed rows."""
        scale = self._with(self.inputs.scale, cells)
        return replace(self, inputs=replace(self.inputs, scale=scale))

    def with_codes(self, cells: Tensor) -> ChangedRows:
        """Other classes (q, d) in the changed rows."""
        codes = self._with(self.inputs.codes, cells)
        return replace(self, inputs=replace(self.inputs, codes=codes))

    def _with(self, values: Tensor, cells: Tensor) -> Tensor:
        copies = torch.arange(len(self.rows), device=self.rows.device)
        changed = values.clone()
        changed[copies, self.rows] = cells
        return changed


def _most_sensitive(
    asked: AskedQuery,
    inputs: ModelInput,
    ranges: CellRange,
    count: int,
) -> Tensor:
    """Other rows with the largest gradients times the ranges of their columns."""
    gradient = _gradients(asked, inputs)[0]  # (n, d)
    continuous = asked.trained.data.continuous
    widths = torch.where(continuous, ranges.widths, 1.0)
    reach = gradient.abs() * widths
    hidden = inputs.mask[0] == 1
    by_row = reach.masked_fill(hidden, 0.0).sum(1)
    by_row[asked.query] = -1.0
    others = len(by_row) - 1
    return by_row.topk(min(count, others)).indices


def _ascend(
    asked: AskedQuery,
    changed: ChangedRows,
    ranges: CellRange,
    steps: int,
) -> tuple[float, ChangedRows]:
    """Largest movement by numbers, and the rows at the end of the ascent."""
    movable = changed.visible & asked.trained.data.continuous  # (q, d)
    directions = changed.directions[:, None]
    step = FIRST_STEP * ranges.widths
    with torch.no_grad():
        largest = float(asked.movements(changed.inputs).max())
    for _ in range(steps):
        gradients = _gradients(asked, changed.inputs)
        of_rows = changed.cells(gradients)
        numbers = changed.cells(changed.inputs.scale)
        moved = numbers + directions * step * of_rows.sign()
        within = moved.clamp(ranges.lowest, ranges.highest)
        cells = torch.where(movable, within, numbers)
        changed = changed.with_numbers(cells)
        with torch.no_grad():
            movements = asked.movements(changed.inputs)
        largest = max(largest, float(movements.max()))
        step = step * DECAY
    return largest, changed


@torch.no_grad()
def _swap_classes(asked: AskedQuery, changed: ChangedRows) -> float:
    """Largest movement when categories are changed as well, one column after another."""
    data = asked.trained.data
    best = asked.movements(changed.inputs)  # (q,)
    categorical = (~data.continuous).nonzero()
    for column in categorical.flatten().tolist():
        visible = changed.visible[:, column]
        for code in range(int(data.sizes[column])):
            codes = changed.cells(changed.inputs.codes)
            swapped = codes.clone()
            swapped[:, column] = code
            movements = asked.movements(changed.with_codes(swapped).inputs)
            better = visible & (movements > best)
            chosen = torch.where(better[:, None], swapped, codes)
            changed = changed.with_codes(chosen)
            best = torch.where(better, movements, best)
    return float(best.max())


def _gradients(asked: AskedQuery, inputs: ModelInput) -> Tensor:
    """Gradients (q, n, d) of the predictions with respect to the numbers."""
    scale = inputs.scale.detach().requires_grad_()
    predictions = asked.predictions(replace(inputs, scale=scale))
    (gradients,) = torch.autograd.grad(predictions.sum(), scale)
    return gradients
