from __future__ import annotations

import numpy as np
import torch

from npt.nn.batches import partition
from npt.nn.inputs import EncodedTable
from npt.nn.settings import NPTSettings


def data(rows: int = 503) -> EncodedTable:
    generator = np.random.default_rng(0)
    part = torch.tensor(generator.choice(3, rows, p=[0.7, 0.1, 0.2]))
    codes = torch.tensor(generator.choice(2, rows, p=[0.9, 0.1]))[:, None]
    empty = torch.zeros(rows, 1)
    return EncodedTable(
        codes, empty, empty.bool(), part, torch.tensor([False]), torch.tensor([2]), 0
    )


def draws() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_batches_partition_the_rows_and_keep_the_shares() -> None:
    table = data()
    batches = partition(table, "train", NPTSettings(batch_rows=100), draws())
    assert len(batches) == 6
    assert sorted(torch.cat(batches).tolist()) == list(range(503))
    assert {len(rows) for rows in batches} == {83, 84}
    for part in range(3):
        counts = [int((table.part[rows] == part).sum()) for rows in batches]
        assert max(counts) - min(counts) <= 1


def test_class_balance_looks_at_train_labels_only() -> None:
    table = data()
    settings = NPTSettings(batch_rows=100, class_balanced=True)
    batches = partition(table, "train", settings, draws())
    for code in range(2):
        counts = [
            int(((table.part[rows] == 0) & (table.codes[rows, 0] == code)).sum())
            for rows in batches
        ]
        assert max(counts) - min(counts) <= 1
    other = EncodedTable(
        **{
            **vars(table),
            "codes": torch.where((table.part == 0)[:, None], table.codes, 1 - table.codes),
        }
    )
    again = partition(other, "train", settings, draws())
    assert all(torch.equal(a, b) for a, b in zip(batches, again, strict=True))


def test_without_batches_the_whole_table_comes_at_once() -> None:
    assert [rows.tolist() for rows in partition(data(9), "test", NPTSettings(), draws())] == [
        list(range(9))
    ]


def test_not_transductive_training_sees_train_rows_only() -> None:
    table, settings = data(), NPTSettings(transductive=False, batch_rows=100)
    seen = {
        mode: torch.cat(partition(table, mode, settings, draws()))
        for mode in ("train", "validation", "test")
    }
    assert set(table.part[seen["train"]].tolist()) == {0}
    assert set(table.part[seen["validation"]].tolist()) == {0, 1}
    assert len(seen["test"]) == 503
