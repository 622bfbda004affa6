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


def cell_range(inputs: ModelInput) -> tuple[Tensor, Tensor]:
    """Smallest and largest visible number (d,) of each column; 0 for a column without any."""
    hidden = inputs.mask[0] == 1
    lowest = inputs.scale[0].masked_fill(hidden, torch.inf).amin(0)
    highest = inputs.scale[0].masked_fill(hidden, -torch.inf).amax(0)
    unknown = lowest > highest
    return lowest.masked_fill(unknown, 0.0), highest.masked_fill(unknown, 0.0)


@dataclass(frozen=True)
class Attack:
    """Changes of single rows of an input that move the prediction of a query.

    Each row is changed in two copies of the input: one that moves up, and one that moves down.

    Attributes:
        trained: The model in double precision.
        inputs: Input (1, n, d) in double precision.
        query: Index of the query.
        rows: Indices (q,) of the changed rows.
        lowest: Smallest number (d,) of each column.
        highest: Largest one.
        predicted_class: The class whose probability counts; None in regression.
        before: The prediction as it is.
    """

    trained: TrainedNPT
    inputs: ModelInput
    query: int
    rows: Tensor
    lowest: Tensor
    highest: Tensor
    predicted_class: int | None = None
    before: float = 0.0

    @classmethod
    def from_query(cls, trained: TrainedNPT, batch: QueryBatch, query: int, rows: int) -> Attack:
        """An attack by those rows of a batch that have the largest gradients."""
        scale, mask = batch.inputs.scale.double(), batch.inputs.mask.double()
        inputs = replace(batch.inputs, scale=scale, mask=mask)
        trained = replace(trained, model=deepcopy(trained.model).double())
        attack = cls(trained, inputs, query, torch.arange(0), *cell_range(inputs))
        if trained.task != "regression":
            predicted_class = int(attack.targets(inputs).argmax())
            attack = replace(attack, predicted_class=predicted_class)
        numbers = scale.clone().requires_grad_()
        prediction = attack.predictions(replace(inputs, scale=numbers))
        (gradient,) = torch.autograd.grad(prediction.sum(), numbers)  # (1, n, d)
        widths = torch.where(trained.data.continuous, attack.highest - attack.lowest, 1.0)
        reach = (gradient[0].abs() * widths).masked_fill(mask[0] == 1, 0.0).sum(1)
        reach[query] = -1.0
        most_sensitive = reach.topk(min(rows, len(reach) - 1)).indices
        return replace(attack, rows=most_sensitive.repeat(2), before=float(prediction.detach()))

    @property
    def directions(self) -> Tensor:
        """1 for the copies (q, 1) that are moved up, -1 for the others."""
        ones = torch.ones(len(self.rows) // 2, 1, device=self.rows.device)
        return torch.cat([ones, -ones])

    @property
    def visible(self) -> Tensor:
        """Which cells (q, d) of the changed rows are visible."""
        return self.inputs.mask[0, self.rows] == 0

    @property
    def unchanged(self) -> tuple[Tensor, Tensor]:
        """Numbers and classes (q, d) of the changed rows as they are."""
        return self.inputs.scale[0, self.rows], self.inputs.codes[0, self.rows]

    @property
    def like_query(self) -> tuple[Tensor, Tensor]:
        """Numbers and classes (q, d) with those of the query in the visible cells.

        Numbers that it hides are the highest of their column in the copies that are moved up, and
        the lowest in the others.
        """
        numbers, codes = self.unchanged
        shown = self.inputs.mask[0, self.query] == 0  # (d,)
        extremes = torch.where(self.directions > 0, self.highest, self.lowest)  # (q, d)
        neighbours = torch.where(shown, self.inputs.scale[0, self.query], extremes)
        numbers = torch.where(self.visible, neighbours, numbers)
        codes = torch.where(shown & self.visible, self.inputs.codes[0, self.query], codes)
        return numbers, codes

    def predictions(self, inputs: ModelInput) -> Tensor:
        """Predictions (q,) in every copy (q, n, d): values, or probabilities of the class."""
        targets = self.targets(inputs)
        if self.predicted_class is None:
            return targets[:, 0]
        return targets.softmax(-1)[:, self.predicted_class]

    def targets(self, inputs: ModelInput) -> Tensor:
        """Target outputs (q, C) in every copy."""
        device = self.trained.device
        queries = torch.full((len(inputs.codes), 1), self.query, device=device)
        with arithmetic(self.trained.settings, device):
            return self.trained.model.predict_target(inputs, queries)[:, 0]

    def changes(self, numbers: Tensor, codes: Tensor) -> Tensor:
        """Changes (q,) of the prediction by other numbers and classes (q, d)."""
        copies = torch.arange(len(self.rows), device=self.rows.device)
        shape = (len(copies), 1, 1)
        changed = ModelInput(
            codes=self.inputs.codes.repeat(shape).index_put((copies, self.rows), codes),
            scale=self.inputs.scale.repeat(shape).index_put((copies, self.rows), numbers),
            mask=self.inputs.mask.expand(len(copies), -1, -1),
        )
        return self.predictions(changed) - self.before


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
    attack = Attack.from_query(trained, batch, query, rows)
    largest = 0.0
    for numbers, codes in (attack.unchanged, attack.like_query):
        by_numbers, numbers = _ascend(attack, numbers, codes, steps)
        largest = max(largest, by_numbers, _swap_classes(attack, numbers, codes))
    return largest


def _ascend(attack: Attack, numbers: Tensor, codes: Tensor, steps: int) -> tuple[float, Tensor]:
    """Largest movement by numbers, and the numbers (q, d) at the end of the ascent."""
    movable = attack.visible & attack.trained.data.continuous
    step = FIRST_STEP * (attack.highest - attack.lowest)
    largest = 0.0
    for _ in range(steps):
        numbers = numbers.detach().requires_grad_()
        changes = attack.changes(numbers, codes)
        largest = max(largest, float(changes.detach().abs().max()))
        (gradients,) = torch.autograd.grad(changes.sum(), numbers)
        moved = numbers + attack.directions * step * gradients.sign()
        numbers = torch.where(movable, moved.clamp(attack.lowest, attack.highest), numbers)
        step = step * DECAY
    return largest, numbers.detach()


@torch.no_grad()
def _swap_classes(attack: Attack, numbers: Tensor, codes: Tensor) -> float:
    """Largest movement when categories are changed as well, one column after another."""
    data = attack.trained.data
    best = attack.changes(numbers, codes).abs()  # (q,)
    for column in (~data.continuous).nonzero().flatten().tolist():
        for code in range(int(data.sizes[column])):
            swapped = codes.clone()
            swapped[:, column] = code
            movements = attack.changes(numbers, swapped).abs()
            better = attack.visible[:, column] & (movements > best)
            codes = torch.where(better[:, None], swapped, codes)
            best = torch.where(better, movements, best)
    return float(best.max())
