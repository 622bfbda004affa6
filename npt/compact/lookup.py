"""The lookup task (paper section 4.2, Appendix B.1) of compact NPT: rows have duplicates.

The context is the duplicates of the predicted rows themselves. In training these are the rows of a
batch, so a row may attend to itself. At prediction they are the rows of the same part, validation
or test. A duplicate shows the label of its row, if the table has it; training shows those of train
rows alone.

m rows of a context, C length of a label.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from npt.compact.settings import CompactSettings
from npt.interface import Intervention, UserError
from npt.seeding import generator_for
from npt.table import PARTS, Task

if TYPE_CHECKING:
    from npt.compact.trained import TrainedCompactNPT

CPU = torch.device("cpu")
FIRST_STREAM = 2  # of the generator "evaluation"; the draws of plain contexts come before


def require_task(settings: CompactSettings, task: Task) -> None:
    """Raise `UserError` if the variant is for other targets."""
    if settings.lookup == "add_one" and task != "regression":
        raise UserError("lookup: add_one is for regression")


def shown_labels(labels: Tensor, settings: CompactSettings) -> Tensor:
    """What rows with labels (m, C) show in the context."""
    if settings.lookup == "add_one":
        return labels + 1.0
    return labels


def lookup_contexts(trained: TrainedCompactNPT, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Row numbers of the contexts of some rows: all rows of a part, in groups if they are many."""
    parts = trained.parts
    for part in range(len(PARTS)):
        if not (parts[rows] == part).any():
            continue
        of_part = np.flatnonzero(parts == part)
        limit = trained.settings.context_rows or len(of_part)
        groups = -(-len(of_part) // limit)
        if groups == 1:
            yield of_part
            continue
        stream = FIRST_STREAM + part
        generator = generator_for(trained.seed, "evaluation", CPU, stream)
        order = torch.randperm(len(of_part), generator=generator).numpy()
        for group in range(groups):
            yield np.sort(of_part[order[group::groups]])


def intervention(trained: TrainedCompactNPT, rows: np.ndarray, sweep: int) -> Intervention:
    """Set the target of one duplicate at a time to values over the range of all targets."""
    truth = trained.table.truth
    values = np.linspace(np.nanmax(truth), np.nanmin(truth), sweep)
    predictions = np.full((len(rows), sweep), np.nan)
    others = np.full(len(rows), np.nan)
    for places, model in trained.in_contexts(rows):
        for place in places:
            own = int(np.flatnonzero(model.context_rows == rows[place])[0])
            swept = _swept(model, own, values)
            predictions[place] = swept[:, own]
            changes = np.ptp(swept, axis=0)
            changes[own] = 0.0
            others[place] = changes.max()
    return Intervention(values, predictions, others)


@torch.no_grad()
def _swept(trained: TrainedCompactNPT, own: int, values: np.ndarray) -> np.ndarray:
    """Predictions (len(values), m) of the rows whose duplicates are the context.

    Args:
        own: Index of the duplicate whose target is set.
    """
    standardised = trained.encoder.standardised(values)
    predictions = []
    for value in standardised:
        change = torch.zeros_like(trained.context_labels)
        change[own] = float(value) - trained.context_labels[own]
        context = trained.precise.with_labels(trained.context, change)
        outputs = []
        for queries in trained.encoded_context.split(trained.chunk_size, dim=1):
            outputs.append(trained.precise.predict(queries, context))
        predictions.append(trained.decode(torch.cat(outputs, 1)).values)
    return np.stack(predictions)
