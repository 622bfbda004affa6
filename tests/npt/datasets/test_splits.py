from __future__ import annotations

import numpy as np
import pytest

from npt.datasets.declaration import SplitRule
from npt.datasets.splits import splits
from npt.interface import Task
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
    (split,) = splits(make_table("binary", 100), SplitRule(folds=1, used=1, validation_share=0.125, fixed_test_rows=20))
    assert split.test.tolist() == list(range(80, 100))
    assert (len(split.train), len(split.validation)) == (70, 10)


def test_only_the_used_folds_are_made_and_splits_are_repeatable() -> None:
    table = make_table("regression", 100)
    once, twice = (splits(table, SplitRule(folds=5, used=2, validation_share=0.1)) for _ in range(2))
    assert [split.fold for split in once] == [0, 1]
    assert all(np.array_equal(a.part(), b.part()) for a, b in zip(once, twice, strict=True))
