"""A table of images whose intensities stay bytes until a batch takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from npt.data.encoding import Statistics
from npt.nn.inputs import EncodedTable
from npt.table import Split, Table


@dataclass(frozen=True)
class ImageTable:
    """Ground truth of n images.

    Attributes:
        intensities: Features (n, d - 1) as unsigned bytes.
        centre: What is subtracted from every feature (d - 1,), in float64.
        scale: What it is divided by then (d - 1,).
        targets: The target column alone.
        target: Index of the target column.
    """

    intensities: Tensor
    centre: Tensor
    scale: Tensor
    targets: EncodedTable
    target: int

    @classmethod
    def of(
        cls,
        table: Table,
        split: Split,
        statistics: Statistics,
        device: torch.device,
    ) -> ImageTable:
        """The images of a table on `device`."""
        intensities = np.empty((table.rows, len(table.features)), np.uint8)
        for index, j in enumerate(table.features):
            intensities[:, index] = table.cells[j]
        target = slice(table.target, table.target + 1)
        target_statistics = Statistics(statistics.centre[target], statistics.scale[target])
        column = Table(table.columns[target], table.cells[target], 0)
        return cls(
            intensities=torch.from_numpy(intensities).to(device),
            centre=torch.from_numpy(np.delete(statistics.centre, table.target)).to(device),
            scale=torch.from_numpy(np.delete(statistics.scale, table.target)).to(device),
            targets=EncodedTable.of(column, split, target_statistics, device),
            target=table.target,
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """What of it differs between trainings of one layout."""
        return self.intensities, self.centre, self.scale, *self.targets.tensors

    @property
    def part(self) -> Tensor:
        """Part (n,) of every row."""
        return self.targets.part

    @property
    def device(self) -> torch.device:
        """Device of the data."""
        return self.part.device

    @property
    def columns(self) -> int:
        """Number of columns, d."""
        return len(self.centre) + 1

    @property
    def continuous(self) -> Tensor:
        """Which columns (d,) are continuous."""
        features = torch.ones_like(self.centre, dtype=torch.bool)
        return self._joined(features, self.targets.continuous)

    @property
    def sizes(self) -> Tensor:
        """Length C_j (d,) of every column's encoding."""
        features = torch.ones_like(self.centre, dtype=torch.long)
        return self._joined(features, self.targets.sizes)

    def select(self, rows: Tensor) -> ImageTable:
        """A smaller table."""
        return replace(self, intensities=self.intensities[rows], targets=self.targets.take(rows))

    def take(self, rows: Tensor) -> EncodedTable:
        """The rows of a batch, standardised."""
        targets = self.targets.take(rows)
        exact = (self.intensities[rows].double() - self.centre) / self.scale  # (n, d - 1)
        numbers = exact.float()
        return EncodedTable(
            codes=self._joined(torch.zeros_like(numbers, dtype=torch.long), targets.codes),
            numbers=self._joined(numbers, targets.numbers),
            missing=self._joined(torch.zeros_like(numbers, dtype=torch.bool), targets.missing),
            part=targets.part,
            continuous=self.continuous,
            sizes=self.sizes,
            target=self.target,
        )

    def _joined(self, features: Tensor, target: Tensor) -> Tensor:
        """Features (..., d - 1) and the target (..., 1) in the order of the table's columns."""
        before = features[..., : self.target]
        return torch.cat([before, target, features[..., self.target :]], -1)


TableData = EncodedTable | ImageTable


def encoded_table(
    table: Table,
    split: Split,
    statistics: Statistics,
    device: torch.device,
) -> TableData:
    """A table on `device`: images of bytes as they are, any other table encoded."""
    if table.image and all(_is_bytes(table, j) for j in table.features):
        return ImageTable.of(table, split, statistics, device)
    return EncodedTable.of(table, split, statistics, device)


def _is_bytes(table: Table, j: int) -> bool:
    """Whether a column has whole numbers from 0 to 255, all known."""
    cells = table.cells[j]
    if table.columns[j].kind != "continuous" or cells.dtype.kind not in "iu":
        return False
    byte = np.iinfo(np.uint8)
    return bool(cells.min() >= byte.min and cells.max() <= byte.max)
