"""The paper's configurations as shapes: settings, rows of a batch, and the sizes of the columns; data of that shape."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
import yaml

from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import EncodedTable
from npt.nn.settings import NPTSettings
from performance.reference import Columns
from workflow.config.reading import read
from workflow.config.resolution import resolve

PAPER = Path(__file__).parents[1] / "workflow" / "configs" / "paper.yaml"

# Rows of a full batch, and every column's number of classes, 1 for a number; the target comes last.
TABLES: dict[str, tuple[int, list[int]]] = {
    "yacht": (308, [5, 10, 8, 17, 10, 14, 1]),
    "boston_housing": (506, [1] * 11 + [2, 9] + [1]),
    "breast_cancer": (569, [1] * 30 + [2]),
    "concrete": (1030, [1] * 9),
    "protein": (1989, [1] * 10),
    "poker_hand": (4096, [4] * 5 + [1] * 5 + [10]),
    "higgs": (4096, [1] * 28 + [2]),
    "kick": (4096, [3, 33, 1063, 134, 863, 16, 3, 4, 3, 4, 12, 4, 2, 2, 74, 153, 37, 2] + [1] * 14 + [2]),
    "income": (
        2048,
        [9, 52, 47, 17, 3, 7, 24, 15, 5, 10, 2, 3, 6, 8, 6, 6, 51, 38, 8, 10, 9, 10, 3, 4, 7, 5, 43, 43, 43, 5, 3, 3, 3, 53, 2]
        + [1] * 6 + [2],
    ),
    "forest_cover": (1800, [1] * 10 + [2] * 44 + [7]),
}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """One configuration of the paper."""

    name: str
    rows: int
    layout: ColumnLayout
    settings: NPTSettings


def shape(name: str) -> Shape:
    """The configuration of a table, with its base settings from the paper's config."""
    rows, sizes = TABLES[name]
    layout = ColumnLayout(tuple(sizes), tuple(size == 1 for size in sizes), len(sizes) - 1)
    config = read(yaml.safe_load(PAPER.read_text()))
    settings = resolve(config, name, "npt", {})
    return Shape(name, rows, layout, settings)


def generated(one: Shape, device: torch.device, seed: int = 0) -> tuple[EncodedTable, Columns]:
    """The same learnable table in both forms: the target follows the first numbers, in train rows 70 % of the time seen."""
    draws = torch.Generator().manual_seed(seed)
    continuous, sizes = torch.tensor(one.layout.continuous), torch.tensor(one.layout.sizes)
    shape_ = (one.rows, len(sizes))
    numbers = torch.where(continuous, torch.randn(shape_, generator=draws), 0.0)
    codes = torch.where(continuous, 0, (torch.rand(shape_, generator=draws) * sizes).long())
    signal = (numbers[:, :4].sum(1) + (codes[:, :4] / sizes[:4]).sum(1)) / 2
    signal = (signal - signal.mean()) / signal.std() + 0.3 * torch.randn(one.rows, generator=draws)
    target, classes = one.layout.target, one.layout.sizes[one.layout.target]
    if classes == 1:
        numbers[:, target] = (signal - signal.mean()) / signal.std()
    else:
        codes[:, target] = (signal.argsort().argsort() * classes // one.rows).long()
    part = torch.multinomial(
        torch.tensor([0.7, 0.1, 0.2]), one.rows, replacement=True, generator=draws
    )
    missing = torch.zeros(shape_, dtype=torch.bool)
    on_device = [x.to(device) for x in (codes, numbers, missing, part, continuous, sizes)]
    data = EncodedTable(
        on_device[0], on_device[1], on_device[2], on_device[3], on_device[4], on_device[5], target
    )
    values = [
        numbers[:, j, None]
        if one.layout.continuous[j]
        else F.one_hot(codes[:, j], int(sizes[j])).float()
        for j in range(len(sizes))
    ]
    plain = Columns(
        [v.to(device) for v in values], [missing[:, j].to(device) for j in range(len(sizes))], one.layout.continuous,
        part.to(device), target,
    )  # fmt: skip
    return data, plain
