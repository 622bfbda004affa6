from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from npt.data.assembly import assemble
from npt.data.datasets import datasets
from npt.data.declaration import SplitRule
from npt.data.source import acquire
from npt.data.splits import splits
from npt.data.store import split_hash
from npt.table import Task
from tests.conftest import make_table


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_the_ten_test_folds_partition_the_rows(task: Task) -> None:
    table = make_table(task, 300)
    folds = splits(table, SplitRule())
    assert sorted(np.concatenate([split.test for split in folds]).tolist()) == list(range(300))
    for split in folds:
        parts = [split.train, split.validation, split.test]
        assert sorted(np.concatenate(parts).tolist()) == list(range(300))
        assert len(split.test) == 30
        assert 60 <= len(split.validation) <= 61
        assert all((np.diff(part) > 0).all() for part in parts)


def test_classes_keep_their_shares_in_every_part() -> None:
    table = make_table("multiclass", 300)
    for split in splits(table, SplitRule()):
        for part in (split.train, split.validation, split.test):
            shares = np.bincount(table.truth[part].astype(int)) / len(part)
            assert np.abs(shares - 1 / 3).max() <= 1 / len(part)


def test_a_fixed_test_set_is_the_last_rows_and_the_share_is_of_the_rest() -> None:
    (split,) = splits(
        make_table("binary", 100),
        SplitRule(folds=1, used=1, validation_share=0.125, fixed_test_rows=20),
    )
    assert split.test.tolist() == list(range(80, 100))
    assert (len(split.train), len(split.validation)) == (70, 10)


def test_only_the_used_folds_are_made_and_splits_are_repeatable() -> None:
    table = make_table("regression", 100)
    once, twice = (
        splits(table, SplitRule(folds=5, used=2, validation_share=0.1)) for _ in range(2)
    )
    assert [split.fold for split in once] == [0, 1]
    assert all(np.array_equal(a.part(), b.part()) for a, b in zip(once, twice, strict=True))


@pytest.mark.parametrize(
    ("name", "digest", "times_tested"),
    [
        ("breast_cancer", "591e3a827bb5a270", [207, 205, 114, 37, 5, 1]),
        ("concrete", "a23b2432971242e2", [356, 399, 205, 61, 7, 2]),
        ("yacht", "f56c3caf415d0fc0", [109, 111, 70, 15, 3]),
    ],
)
def test_the_released_code_s_folds_overlap_as_they_did(
    name: str, digest: str, times_tested: list[int]
) -> None:
    declared = datasets()[f"{name}_legacy"]
    acquired = acquire(declared, Path("unused"))
    table = assemble(acquired.reading.read(acquired.paths), declared)
    folds = {split.fold: split for split in splits(table, declared.split_rule)}
    right = splits(table, datasets()[name].split_rule)
    assert split_hash(folds).startswith(digest)
    assert (
        np.bincount(
            np.bincount(
                np.concatenate([split.test for split in folds.values()]), minlength=table.rows
            )
        ).tolist()
        == times_tested
    )
    assert np.array_equal(folds[0].part(), right[0].part())
    for split, other in zip(folds.values(), right, strict=True):
        assert sorted(np.concatenate([split.train, split.validation, split.test]).tolist()) == list(
            range(table.rows)
        )
        assert [len(split.train), len(split.validation), len(split.test)] == [
            len(other.train),
            len(other.validation),
            len(other.test),
        ]
