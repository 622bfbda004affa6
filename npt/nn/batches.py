"""Minibatches of rows that keep the table's shares of train, validation and test rows (paper Appendix C.3)."""

from __future__ import annotations

import torch

from npt.interface import Mode
from npt.nn.inputs import EncodedTable
from npt.nn.settings import NPTSettings


def rows_of(data: EncodedTable, mode: Mode, settings: NPTSettings) -> torch.Tensor:
    """Row numbers of a mode: all, or without the parts that training and validation may not see."""
    rows = torch.arange(len(data.part), device=data.part.device)
    if settings.transductive or mode == "test":
        return rows
    return rows[data.part == 0] if mode == "train" else rows[data.part <= 1]


def batch_count(data: EncodedTable, mode: Mode, settings: NPTSettings) -> int:
    """Number of batches of an epoch."""
    return (
        1
        if settings.batch_rows is None
        else -(-len(rows_of(data, mode, settings)) // settings.batch_rows)
    )


def largest_batch(data: EncodedTable, settings: NPTSettings) -> int:
    """Rows of the largest batch in any mode, duplicates of the lookup task included."""
    rows = (
        len(data.part) if settings.batch_rows is None else min(len(data.part), settings.batch_rows)
    )
    return rows if settings.lookup == "off" else 2 * rows


def partition(
    data: EncodedTable, mode: Mode, settings: NPTSettings, generator: torch.Generator
) -> list[torch.Tensor]:
    """Row numbers of one epoch's batches: they partition the rows of the mode, in sizes that differ by at most one.

    Every batch has each part's rows (with `class_balanced`, each class's train rows) in proportion, to within one row.
    """
    part, rows = data.part, rows_of(data, mode, settings)
    count = batch_count(data, mode, settings)
    if count == 1:
        return [rows]
    stratum = part[rows]
    if settings.class_balanced:
        stratum = torch.where(
            stratum == 0, data.codes[rows, data.target], stratum + int(data.sizes[data.target])
        )
    shuffled = torch.randperm(len(rows), generator=generator, device=rows.device)
    dealt = shuffled[torch.argsort(stratum[shuffled], stable=True)]
    return [rows[dealt[batch::count]] for batch in range(count)]
