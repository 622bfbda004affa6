"""The paper's configurations as shapes: settings, batch rows, columns; data of a shape."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import torch
import yaml

from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import EncodedTable
from npt.nn.settings import NPTSettings
from workflow.config.reading import read_file
from workflow.config.resolution import resolve

FOLDER = Path(__file__).parent
PAPER = FOLDER.parent / "workflow" / "configs" / "paper.yaml"
SHAPES = yaml.safe_load((FOLDER / "paper_shapes.yaml").read_text())
TRAIN_VALIDATION_TEST = torch.tensor([0.7, 0.1, 0.2])


@dataclass(frozen=True)
class Shape:
    """Size of a batch, its columns, and the settings of an NPT."""

    name: str
    rows: int
    layout: ColumnLayout
    settings: NPTSettings

    @property
    def columns(self) -> int:
        """Number of columns with the target."""
        return len(self.layout.sizes)


def layout_of(sizes: list[int]) -> ColumnLayout:
    """Layout of columns with these numbers of classes, 1 for a number; the target is the last."""
    continuous = tuple(size == 1 for size in sizes)
    return ColumnLayout(tuple(sizes), continuous, len(sizes) - 1)


def paper_shape(name: str) -> Shape:
    """The paper's configuration of a table, with the base settings of `paper.yaml`."""
    settings = resolve(read_file(PAPER), name, "npt", {})
    shape = SHAPES[name]
    return Shape(name, shape["rows"], layout_of(shape["sizes"]), settings)


def generated(
    shape: Shape,
    device: torch.device,
    seed: int = 0,
) -> EncodedTable:
    """A learnable table.

    The target follows the first four columns, with noise. Rows are train rows with probability 0.7.
    """
    draws = torch.Generator().manual_seed(seed)
    encoded = _random_table(shape, draws)
    target = encoded.target
    signal = _signal(encoded, draws)
    classes = shape.layout.sizes[target]
    if classes == 1:
        encoded.numbers[:, target] = standardised(signal)
    else:
        ranks = signal.argsort().argsort()
        encoded.codes[:, target] = ranks * classes // shape.rows
    encoded.part[:] = torch.multinomial(
        TRAIN_VALIDATION_TEST,
        shape.rows,
        replacement=True,
        generator=draws,
    )
    tensors = {}
    for name, value in vars(encoded).items():
        if isinstance(value, torch.Tensor):
            tensors[name] = value.to(device)
    return replace(encoded, **tensors)


def _random_table(shape: Shape, draws: torch.Generator) -> EncodedTable:
    """A table of independent cells without missing ones."""
    continuous = torch.tensor(shape.layout.continuous)
    sizes = torch.tensor(shape.layout.sizes)
    cells = (shape.rows, shape.columns)
    normal = torch.randn(cells, generator=draws)
    uniform = torch.rand(cells, generator=draws)
    return EncodedTable(
        codes=torch.where(continuous, 0, (uniform * sizes).long()),
        numbers=torch.where(continuous, normal, 0.0),
        missing=torch.zeros(cells, dtype=torch.bool),
        part=torch.zeros(shape.rows, dtype=torch.long),
        continuous=continuous,
        sizes=sizes,
        target=shape.layout.target,
    )


def _signal(table: EncodedTable, draws: torch.Generator) -> torch.Tensor:
    """Sum of the first four columns (n,), standardised, with noise."""
    values = table.numbers + table.codes / table.sizes
    noise = torch.randn(len(values), generator=draws)
    return standardised(values[:, :4].sum(1)) + 0.3 * noise


def standardised(values: torch.Tensor) -> torch.Tensor:
    """Values with mean 0 and standard deviation 1."""
    return (values - values.mean()) / values.std()
