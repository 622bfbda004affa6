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
from npt.table import PARTS, Split, Task
from tests.conftest import make_table


def require_partition(split: Split, rows: int) -> None:
    parts = [split.rows(part) for part in PARTS]
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    for part in parts:
        assert (np.diff(part) > 0).all()


def sizes(split: Split) -> list[int]:
    return [len(split.rows(part)) for part in PARTS]


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_the_ten_test_folds_partition_the_rows(task: Task) -> None:
    table = make_table(task, 300)
    folds = splits(table, SplitRule())
    tested = np.concatenate([split.test for split in folds])
    assert sorted(tested.tolist()) == list(range(300))
    for split in folds:
        require_partition(split, 300)
        assert len(split.test) == 30
        assert 60 <= len(split.validation) <= 61
        for part in PARTS if task == "multiclass" else ():
            rows = split.rows(part)
            fractions = np.bincount(table.truth[rows].astype(int)) / len(rows)
            assert np.abs(fractions - 1 / 3).max() <= 1 / len(rows)


def test_a_fixed_test_set_is_the_last_rows() -> None:
    rule = SplitRule(folds=1, used=1, validation_share=0.125, fixed_test_rows=20)
    (split,) = splits(make_table("binary", 100), rule)
    assert split.test.tolist() == list(range(80, 100))
    assert sizes(split) == [70, 10, 20]


@pytest.mark.parametrize(
    ("name", "digest", "rows_by_tests"),
    [
        ("breast_cancer", "591e3a827bb5a270", [207, 205, 114, 37, 5, 1]),
        ("concrete", "a23b2432971242e2", [356, 399, 205, 61, 7, 2]),
        ("yacht", "f56c3caf415d0fc0", [109, 111, 70, 15, 3]),
    ],
)
def test_the_folds_of_the_released_code(name: str, digest: str, rows_by_tests: list[int]) -> None:
    """`rows_by_tests` counts the rows that are tested 0, 1, 2, ... times."""
    declared = datasets()[f"{name}_legacy"]
    acquired = acquire(declared, Path("unused"))
    table = assemble(acquired.reading.read(acquired.paths), declared)
    folds = splits(table, declared.split_rule)
    right = splits(table, datasets()[name].split_rule)
    assert split_hash(dict(enumerate(folds))).startswith(digest)
    tested = np.concatenate([split.test for split in folds])
    times_tested = np.bincount(tested, minlength=table.rows)
    assert np.bincount(times_tested).tolist() == rows_by_tests
    assert np.array_equal(folds[0].part(), right[0].part())
    for split, expected in zip(folds, right, strict=True):
        require_partition(split, table.rows)
        assert sizes(split) == sizes(expected)
