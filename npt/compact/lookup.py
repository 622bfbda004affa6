"""The lookup task (paper section 4.2, Appendix B.1) of compact NPT: rows have duplicates.

The context is the duplicates of the predicted rows themselves. In training these are the rows of a
batch, so a row may attend to itself. At prediction they are the rows of the same part, validation
or test. A duplicate shows the label of its row, if the table has it; training shows those of train
rows alone.

m rows of a context, C length of a label.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from npt.compact.settings import CompactSettings
from npt.errors import UserError
from npt.seeding import generator_for
from npt.table import PARTS, Task

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


def lookup_contexts(
    parts: np.ndarray, rows: np.ndarray, settings: CompactSettings, seed: int
) -> Iterator[np.ndarray]:
    """Row numbers of the contexts of some rows: all rows of a part, in groups if they are many.

    Args:
        parts: Part (N,) of every row of the table.
    """
    for part in range(len(PARTS)):
        if not (parts[rows] == part).any():
            continue
        part_rows = np.flatnonzero(parts == part)
        limit = settings.context_rows or len(part_rows)
        groups = -(-len(part_rows) // limit)
        if groups == 1:
            yield part_rows
            continue
        stream = FIRST_STREAM + part
        generator = generator_for(seed, "evaluation", CPU, stream)
        order = torch.randperm(len(part_rows), generator=generator).numpy()
        for group in range(groups):
            yield np.sort(part_rows[order[group::groups]])
