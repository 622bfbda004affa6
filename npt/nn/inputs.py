"""An encoded table on a device, and the input made of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from npt.data.encoding import Statistics, standardised
from npt.table import Split, Table


@dataclass(frozen=True)
class ModelInput:
    """Input of NPT, three tensors (B, n, d).

    A visible category is (code, 1, 0), a visible number (0, value, 0), a hidden or missing cell (0, 0, 1): `codes` picks
    the embedding's row, `scale` multiplies it, `mask` is the mask channel.
    """

    codes: torch.Tensor
    scale: torch.Tensor
    mask: torch.Tensor

    def hide(self, where: torch.Tensor) -> ModelInput:
        """The same input with the cells `where` (B, n, d) hidden: nothing of them is left in it."""
        return ModelInput(
            *(
                torch.where(where, x, y)
                for x, y in ((0, self.codes), (0.0, self.scale), (1.0, self.mask))
            )
        )

    def gather_rows(self, rows: torch.Tensor) -> ModelInput:
        """Cell (b, i, j) taken from row rows[b, i, j] of the same column; a batch of one is spread over B."""
        spread = [
            x.expand(rows.shape[0], -1, -1).gather(1, rows)
            for x in (self.codes, self.scale, self.mask)
        ]
        return ModelInput(*spread)


@dataclass(frozen=True)
class EncodedTable:
    """Ground truth of n rows: class codes and standardised numbers (n, d), what is missing, and each row's part (n,)."""

    codes: torch.Tensor
    numbers: torch.Tensor
    missing: torch.Tensor
    part: torch.Tensor
    continuous: torch.Tensor
    sizes: torch.Tensor
    target: int

    @classmethod
    def of(
        cls, table: Table, split: Split, known: Statistics, device: torch.device
    ) -> EncodedTable:
        """Encode a table on `device`."""
        continuous = np.array([column.kind == "continuous" for column in table.columns])
        shape = (table.rows, len(table.columns))
        codes, numbers, missing = (
            np.zeros(shape, np.int64),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.bool_),
        )
        for j in range(len(table.columns)):
            cells = standardised(table, known, j) if continuous[j] else table.numbers(j)
            missing[:, j] = np.isnan(cells)
            (numbers if continuous[j] else codes)[:, j] = np.where(missing[:, j], 0, cells)
        return cls(
            torch.from_numpy(codes).to(device),
            torch.from_numpy(numbers).to(device),
            torch.from_numpy(missing).to(device),
            torch.tensor(split.part(), device=device),
            torch.tensor(continuous, device=device),
            torch.tensor([column.size for column in table.columns], device=device),
            table.target,
        )

    def take(self, rows: torch.Tensor) -> EncodedTable:
        """The rows of a batch."""
        codes, numbers, missing, part = (
            x[rows] for x in (self.codes, self.numbers, self.missing, self.part)
        )
        return EncodedTable(codes, numbers, missing, part, self.continuous, self.sizes, self.target)

    def visible(self) -> ModelInput:
        """Everything shown but the missing cells, as a batch of one table."""
        scale = torch.where(self.continuous, self.numbers, torch.ones_like(self.numbers))
        cells = ModelInput(self.codes[None], scale[None], torch.zeros_like(scale)[None])
        return cells.hide(self.missing[None])
