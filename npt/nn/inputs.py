"""An encoded table on a device, and the network's input made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from npt.data.encoding import Statistics
from npt.table import PARTS, Part, Split, Table

PART: dict[Part, int] = {part: code for code, part in enumerate(PARTS)}


class ModelInput(NamedTuple):
    """Input of NPT, three tensors (B, n, d).

    A visible category is (code, 1, 0), a visible number (0, value, 0), a hidden or missing cell (0,
    0, 1).

    Attributes:
        codes: Classes, which select the embedding's row.
        scale: Factors of these rows.
        mask: The mask channel.
    """

    codes: Tensor
    scale: Tensor
    mask: Tensor

    def hide(self, where: Tensor) -> ModelInput:
        """The same input with the cells `where` (B, n, d) hidden: nothing of them is left in it."""
        return ModelInput(
            codes=torch.where(where, 0, self.codes),
            scale=torch.where(where, 0.0, self.scale),
            mask=torch.where(where, 1.0, self.mask),
        )

    def map(self, change: Callable[[Tensor], Tensor]) -> Self:
        """The input of changed tensors."""
        return type(self)(*map(change, self))

    def gather_rows(self, rows: Tensor) -> ModelInput:
        """Cell (b, i, j) from row rows[b, i, j] of the same column; sizes 1 are expanded."""
        return self.map(lambda x: x.take_along_dim(rows, 1))


class Encodings(ModelInput):
    """Vectors that an encoder made of images, with a column for each of their features."""


@dataclass(frozen=True)
class EncodedTable:
    """Ground truth of n rows.

    Attributes:
        codes: Class codes (n, d) of categorical columns.
        numbers: Standardised numbers (n, d) of continuous columns.
        missing: Which cells (n, d) are missing.
        part: Part (n,) of every row, in the codes of `PART`.
        continuous: Which columns (d,) are continuous.
        sizes: Length C_j (d,) of every column's encoding.
        target: Index of the target column.
    """

    codes: Tensor
    numbers: Tensor
    missing: Tensor
    part: Tensor
    continuous: Tensor
    sizes: Tensor
    target: int

    @classmethod
    def from_table(
        cls,
        table: Table,
        split: Split,
        statistics: Statistics,
        device: torch.device,
    ) -> EncodedTable:
        """Encode a table on `device`."""
        shape = (table.rows, len(table.columns))
        codes = np.zeros(shape, np.int64)
        numbers = np.zeros(shape, np.float32)
        missing = np.zeros(shape, np.bool_)
        for j, column in enumerate(table.columns):
            values = table.numbers(j)
            encoding = codes
            if column.kind == "continuous":
                values = statistics.standardised(values, j)
                encoding = numbers
            missing[:, j] = np.isnan(values)
            encoding[:, j] = np.where(missing[:, j], 0, values)
        continuous = [column.kind == "continuous" for column in table.columns]
        return cls(
            codes=torch.from_numpy(codes).to(device),
            numbers=torch.from_numpy(numbers).to(device),
            missing=torch.from_numpy(missing).to(device),
            part=torch.tensor(split.part(), device=device),
            continuous=torch.tensor(continuous, device=device),
            sizes=torch.tensor([column.size for column in table.columns], device=device),
            target=table.target,
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """What of it differs between trainings of one layout."""
        return self.codes, self.numbers, self.missing, self.part

    @property
    def device(self) -> torch.device:
        """Device of the data."""
        return self.part.device

    def take(self, rows: Tensor) -> EncodedTable:
        """The rows of a batch."""
        return replace(
            self,
            codes=self.codes[rows],
            numbers=self.numbers[rows],
            missing=self.missing[rows],
            part=self.part[rows],
        )

    def visible(self) -> ModelInput:
        """An input of one table in which all but the missing cells is visible."""
        scale = torch.where(self.continuous, self.numbers, 1.0)
        inputs = ModelInput(self.codes[None], scale[None], torch.zeros_like(scale)[None])
        return inputs.hide(self.missing[None])

    def cells_of_target(self) -> Tensor:
        """Which cells (n, d) are in the target column."""
        cells = torch.zeros_like(self.missing)
        cells[:, self.target] = True
        return cells
