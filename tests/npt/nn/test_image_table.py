"""Images as bytes until a batch takes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from npt.data.encoding import statistics
from npt.nn.batches import partition
from npt.nn.image_table import ImageTable, encoded_table
from npt.nn.inputs import EncodedTable
from npt.nn.settings import NPTSettings
from npt.table import Split, Table
from tests.npt.nn.test_patches import images

CPU = torch.device("cpu")
ROWS = torch.tensor([5, 3, 119, 40])
SPLIT = Split(0, np.arange(80), np.arange(80, 100), np.arange(100, 120))


def both(table: Table) -> tuple[ImageTable, EncodedTable]:
    scales = statistics(table, SPLIT)
    as_bytes = encoded_table(table, SPLIT, scales, CPU)
    assert isinstance(as_bytes, ImageTable)
    return as_bytes, EncodedTable.of(table, SPLIT, scales, CPU)


def assert_equal(batch: EncodedTable, other: EncodedTable) -> None:
    for name, tensor in vars(batch).items():
        expected = getattr(other, name)
        if isinstance(expected, int):
            assert tensor == expected
        else:
            assert tensor.dtype == expected.dtype
            assert torch.equal(tensor, expected), name


@pytest.mark.parametrize("target", [0, 70, 192])
@pytest.mark.parametrize("kind", ["categorical", "continuous"])
@pytest.mark.parametrize("by_channel", [True, False])
def test_batches_have_the_bits_of_an_encoded_table(
    target: int,
    kind: str,
    by_channel: bool,
) -> None:
    table = images(target=target, kind=kind).blind(SPLIT.test)
    if not by_channel:
        assert table.image
        table = replace(table, image=replace(table.image, centre=(), scale=()))
    as_bytes, encoded = both(table)
    assert as_bytes.intensities.dtype == torch.uint8
    assert_equal(as_bytes.take(ROWS), encoded.take(ROWS))
    assert_equal(as_bytes.targets, encoded.targets)
    some = torch.arange(60, 110)
    assert_equal(as_bytes.select(some).take(ROWS[:2]), encoded.select(some).take(ROWS[:2]))
    assert torch.equal(as_bytes.continuous, encoded.continuous)
    assert torch.equal(as_bytes.sizes, encoded.sizes)
    assert as_bytes.columns == encoded.columns == 193
    settings = NPTSettings(batch_rows=30, class_balanced=kind == "categorical")
    for mode in ("train", "test"):
        batches = partition(as_bytes, mode, settings, torch.Generator().manual_seed(0))
        expected = partition(encoded, mode, settings, torch.Generator().manual_seed(0))
        for rows, other in zip(batches, expected, strict=True):
            assert torch.equal(rows, other)


@pytest.mark.parametrize("number", [np.nan, 0.5, -1, 256])
def test_other_intensities_are_encoded(number: float) -> None:
    table = images()
    cells = table.numbers(3)
    cells[7] = number
    other = table.with_numbers(3, cells)
    assert isinstance(encoded_table(other, SPLIT, statistics(other, SPLIT), CPU), EncodedTable)


def test_a_table_without_images_is_encoded() -> None:
    table = images(image=None)
    assert isinstance(encoded_table(table, SPLIT, statistics(table, SPLIT), CPU), EncodedTable)
