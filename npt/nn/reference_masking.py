"""Masking of the plain NPT, with a Python loop over the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from npt.nn.settings import NPTSettings

TRAIN, VALIDATION, TEST = range(3)
RANDOMISED = 0.1
"""Share of the masked cells that are randomised instead of hidden."""


@dataclass(frozen=True)
class Columns:
    """A table as a list of columns.

    Attributes:
        values: One-hot or standardised values (n, C_j) by column.
        missing: Missing cells (n,) by column.
        part: Part of each row (n,): 0 train, 1 validation, 2 test.
        target: Index of the target column.
    """

    values: Sequence[Tensor]
    missing: Sequence[Tensor]
    continuous: Sequence[bool]
    part: Tensor
    target: int


@dataclass(frozen=True)
class MaskedColumns:
    """Inputs of the plain NPT, and the cells that the loss counts.

    Attributes:
        inputs: Values and the mask channel (n, C_j + 1) by column.
        features: Masked feature cells (n,) by column; none in the target column.
        labels: Rows (n,) whose target counts.
    """

    inputs: list[Tensor]
    features: list[Tensor]
    labels: Tensor


def masked(
    table: Columns,
    mode: int,
    settings: NPTSettings,
) -> MaskedColumns:
    """Inputs and counted cells in the mode `TRAIN`, `VALIDATION` or `TEST`."""
    target = _target_mask(table, mode, settings)
    inputs = []
    features = []
    for column, missing in enumerate(table.missing):
        if column == table.target:
            inputs.append(_input(table, column, target.chosen, target.hidden))
            features.append(_none(missing))
            continue
        chosen = _none(missing)
        if mode == TRAIN and settings.feature_mask > 0:
            chosen = _drawn(missing, settings.feature_mask) & ~missing
        inputs.append(_input(table, column, chosen, missing))
        features.append(chosen)
    return MaskedColumns(inputs, features, target.labels)


@dataclass(frozen=True)
class TargetMask:
    """Rows (n,) whose target counts, is masked by a draw, and is hidden or missing without one."""

    labels: Tensor
    chosen: Tensor
    hidden: Tensor


def _target_mask(
    table: Columns,
    mode: int,
    settings: NPTSettings,
) -> TargetMask:
    missing = table.missing[table.target]
    known = (table.part == mode) & ~missing
    if settings.target_mask == 1:
        return TargetMask(known, _none(missing), torch.ones_like(missing))
    if mode != TRAIN:
        hidden = missing | (table.part >= mode)
        return TargetMask(known, _none(missing), hidden)
    chosen = known & _drawn(missing, settings.target_mask)
    hidden = missing | (table.part > TRAIN)
    return TargetMask(chosen, chosen, hidden)


def _input(
    table: Columns,
    column: int,
    chosen: Tensor,
    hidden: Tensor,
) -> Tensor:
    """Values and mask channel (n, C_j + 1); a tenth of the chosen cells is randomised."""
    values = table.values[column]
    randomised = chosen & _drawn(hidden, RANDOMISED)
    hidden = hidden | (chosen & ~randomised)
    random = _random_like(values, table.continuous[column])
    values = torch.where(randomised[:, None], random, values)
    values = values.masked_fill(hidden[:, None], 0)
    return torch.cat([values, hidden[:, None].to(values)], 1)


def _random_like(values: Tensor, continuous: bool) -> Tensor:
    """Standard normal numbers, or uniform classes."""
    if continuous:
        return torch.randn_like(values)
    rows, classes = values.shape
    codes = torch.randint(classes, (rows,), device=values.device)
    return F.one_hot(codes, classes).to(values)


def _drawn(rows: Tensor, probability: float) -> Tensor:
    uniform = torch.rand(len(rows), device=rows.device)
    return uniform < probability


def _none(rows: Tensor) -> Tensor:
    return torch.zeros_like(rows)
