"""Minibatches of rows that keep the table's shares of train, validation and test rows (paper Appendix C.3)."""

from __future__ import annotations

import torch

from npt.cells import Encoded
from npt.interface import Mode
from npt.settings import NPTSettings


def partition(data: Encoded, mode: Mode, settings: NPTSettings, generator: torch.Generator) -> list[torch.Tensor]:
    """Row numbers of one epoch's batches: they partition the rows of the mode, in sizes that differ by at most one.

    Every batch has each part's rows (with `class_balanced`, each class's train rows) in proportion, to within one row.
    """
    part = data.part
    rows = torch.arange(len(part), device=part.device)
    if not settings.transductive and mode != "test":
        rows = rows[part == 0] if mode == "train" else rows[part <= 1]
    count = 1 if settings.batch_rows is None else -(-len(rows) // settings.batch_rows)
    if count == 1:
        return [rows]
    stratum = part[rows]
    if settings.class_balanced:
        stratum = torch.where(stratum == 0, data.codes[rows, data.target], stratum + int(data.sizes[data.target]))
    shuffled = torch.randperm(len(rows), generator=generator, device=rows.device)
    dealt = shuffled[torch.argsort(stratum[shuffled], stable=True)]
    return [rows[dealt[batch::count]] for batch in range(count)]
