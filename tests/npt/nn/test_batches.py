from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from npt.nn.batches import partition
from npt.nn.inputs import EncodedTable
from npt.nn.settings import NPTSettings
from npt.table import Part


def data(rows: int = 503) -> EncodedTable:
    generator = np.random.default_rng(0)
    part = torch.tensor(generator.choice(3, rows, p=[0.7, 0.1, 0.2]))
    codes = torch.tensor(generator.choice(2, (rows, 1), p=[0.9, 0.1]))
    empty = torch.zeros(rows, 1)
    continuous = torch.tensor([False])
    return EncodedTable(codes, empty, empty.bool(), part, continuous, torch.tensor([2]), 0)


def batches_of(table: EncodedTable, mode: Part, **changes: Any) -> list[torch.Tensor]:
    return partition(table, mode, NPTSettings(**changes), torch.Generator().manual_seed(0))


def spread(batches: list[torch.Tensor], chosen: torch.Tensor) -> int:
    """Difference of the largest and smallest number of chosen rows in a batch."""
    counts = [int(chosen[rows].sum()) for rows in batches]
    return max(counts) - min(counts)


def test_batches_partition_the_rows_and_keep_the_shares() -> None:
    table = data()
    batches = batches_of(table, "train", batch_rows=100)
    assert sorted(torch.cat(batches).tolist()) == list(range(503))
    assert {len(rows) for rows in batches} == {83, 84}
    for part in range(3):
        assert spread(batches, table.part == part) <= 1


def test_class_balance_depends_on_train_labels_alone() -> None:
    table = data()
    in_train = table.part == 0
    changes = {"batch_rows": 100, "class_balanced": True}
    batches = batches_of(table, "train", **changes)
    for code in range(2):
        assert spread(batches, in_train & (table.codes[:, 0] == code)) <= 1
    flipped = torch.where(in_train[:, None], table.codes, 1 - table.codes)
    again = batches_of(replace(table, codes=flipped), "train", **changes)
    assert all(map(torch.equal, batches, again))


def test_without_batches_the_whole_table_comes_at_once() -> None:
    (rows,) = batches_of(data(9), "test")
    assert rows.tolist() == list(range(9))


@pytest.mark.parametrize(
    ("own_rows", "mode", "parts"),
    [
        (False, "train", [0]),
        (False, "validation", [0, 1]),
        (False, "test", [0, 1, 2]),
        (True, "train", [0]),
        (True, "validation", [1]),
        (True, "test", [2]),
    ],
)
def test_inductive_batches_lack_some_parts(own_rows: bool, mode: Part, parts: list[int]) -> None:
    table = data()
    changes = {"transductive": False, "own_rows": own_rows, "evaluation_rows": 7}
    batches = batches_of(table, mode, **changes)
    assert max(map(len, batches)) <= (7 if mode != "train" else 503)
    expected = torch.isin(table.part, torch.tensor(parts)).nonzero().flatten()
    assert torch.equal(torch.cat(batches).sort().values, expected)
