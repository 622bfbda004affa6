"""The paper's configurations as shapes: settings, batch rows, columns; random tables of a shape."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
import yaml

from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import EncodedTable
from npt.nn.settings import NPTSettings
from workflow.config.reading import read_file
from workflow.config.resolution import resolve
from workflow.presentation.titles import CONFIGS

SHAPES = yaml.safe_load(Path(__file__).with_name("paper_shapes.yaml").read_text())
PARTS = torch.tensor([0] * 7 + [1] + [2] * 2)  # train, validation and test rows in ten


@dataclass(frozen=True)
class Shape:
    """Size of a batch, its columns, and the settings of an NPT."""

    name: str
    rows: int
    layout: ColumnLayout
    settings: NPTSettings


def layout_of(sizes: list[int]) -> ColumnLayout:
    """Layout of columns with these numbers of classes, 1 for a number; the target is the last."""
    continuous = tuple(size == 1 for size in sizes)
    return ColumnLayout(tuple(sizes), continuous, len(sizes) - 1)


def paper_shape(name: str) -> Shape:
    """The paper's configuration of a table, with the base settings of `paper.yaml`."""
    settings = resolve(read_file(CONFIGS / "paper.yaml"), name, "npt", {})
    shape = SHAPES[name]
    return Shape(name, shape["rows"], layout_of(shape["sizes"]), settings)


def generated(shape: Shape, device: torch.device) -> EncodedTable:
    """Independent random cells, none missing; 7 of 10 rows are train rows, 2 are test rows."""
    draws = torch.Generator().manual_seed(0)
    continuous = torch.tensor(shape.layout.continuous)
    sizes = torch.tensor(shape.layout.sizes)
    cells = (shape.rows, shape.layout.tokens)
    codes = (torch.rand(cells, generator=draws) * sizes).long()
    numbers = torch.randn(cells, generator=draws)
    return EncodedTable(
        codes=codes.masked_fill(continuous, 0).to(device),
        numbers=numbers.masked_fill(~continuous, 0.0).to(device),
        missing=torch.zeros(cells, dtype=torch.bool, device=device),
        part=PARTS[torch.randint(len(PARTS), (shape.rows,), generator=draws)].to(device),
        continuous=continuous.to(device),
        sizes=sizes.to(device),
        target=shape.layout.target,
    )
