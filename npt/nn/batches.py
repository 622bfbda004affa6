"""Minibatches with the table's fractions of train, validation and test rows (paper App. C.3)."""

from __future__ import annotations

import torch
from torch import Tensor

from npt.nn.inputs import PART, EncodedTable
from npt.nn.settings import NPTSettings
from npt.table import Part


def rows_of(
    data: EncodedTable,
    mode: Part,
    settings: NPTSettings,
) -> Tensor:
    """Row numbers of a mode: all, or without the parts that training and validation may not see.

    With `own_rows`, those of the mode's part.
    """
    rows = torch.arange(len(data.part), device=data.part.device)
    if settings.own_rows:
        return rows[data.part == PART[mode]]
    if settings.transductive:
        return rows
    return rows[data.part <= PART[mode]]  # parts in their order: train, validation, test


def batch_count(
    data: EncodedTable,
    mode: Part,
    settings: NPTSettings,
) -> int:
    """Number of batches of an epoch."""
    limit = settings.batch_rows
    if mode != "train":
        limit = settings.evaluation_rows or limit
    if limit is None:
        return 1
    return -(-len(rows_of(data, mode, settings)) // limit)


def largest_batch(data: EncodedTable, settings: NPTSettings) -> int:
    """Bound of the rows of any mode's batch, duplicates of the lookup task included."""
    rows = len(data.part)
    if settings.batch_rows is not None:
        rows = min(rows, max(settings.batch_rows, settings.evaluation_rows or 0))
    return rows if settings.lookup == "off" else 2 * rows


def partition(
    data: EncodedTable,
    mode: Part,
    settings: NPTSettings,
    generator: torch.Generator,
) -> list[Tensor]:
    """Row numbers of one epoch's batches, a partition of the mode's rows.

    Sizes differ by at most one. Every batch has each part's rows in proportion, to within one row;
    with `class_balanced`, each class's train rows too.
    """
    rows = rows_of(data, mode, settings)
    count = batch_count(data, mode, settings)
    if count == 1:
        return [rows]
    stratum = data.part[rows]
    if settings.class_balanced:
        classes = int(data.sizes[data.target])
        in_train = stratum == PART["train"]
        stratum = torch.where(in_train, data.codes[rows, data.target], stratum + classes)
    shuffled = torch.randperm(len(rows), generator=generator, device=rows.device)
    by_stratum = shuffled[torch.argsort(stratum[shuffled], stable=True)]
    return [rows[by_stratum[batch::count]] for batch in range(count)]
