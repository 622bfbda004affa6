"""Folds by groups and times, of rare classes and missing targets, and those of the paper."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.data.assembly import assemble
from npt.data.datasets import datasets
from npt.data.declaration import SplitRule
from npt.data.source import acquire
from npt.data.splits import splits
from npt.data.store import split_hash
from npt.table import PARTS, Part, Split, Task
from tests.conftest import make_table
from tests.npt.data.custom.tables import frame, read, write


def require_partition(split: Split, rows: int) -> None:
    parts = [split.rows(part) for part in PARTS]
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    for part in parts:
        assert len(part) > 0
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


def test_fixed_validation_rows_are_the_last_before_the_test_rows() -> None:
    rule = SplitRule(folds=1, used=1, fixed_validation_rows=15, fixed_test_rows=20)
    (split,) = splits(make_table("regression", 100), rule)
    assert np.array_equal(split.part(), np.repeat([0, 1, 2], [65, 15, 20]))


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


def values_by_part(values: pd.Series, split: Split) -> list[set[object]]:
    return [set(values.iloc[split.rows(part)]) for part in PARTS]


def folds_by(data: pd.DataFrame, folder: Path, **changes: Any) -> list[Split]:
    """Five folds of a frame by a group or a time."""
    return list(read(write(folder, data), folds=5, **changes).splits.values())


@pytest.mark.parametrize("changes", [{}, {"target": "colour", "task": "classification"}])
def test_rows_of_a_group_stay_together(changes: dict[str, str], tmp_path: Path) -> None:
    data = frame(120).assign(person=[f"p{i % 17}" for i in range(120)])
    folds = folds_by(data, tmp_path, group="person", **changes)
    for split in folds:
        require_partition(split, 120)
        for some, others in combinations(values_by_part(data["person"], split), 2):
            assert not some & others
    tested = np.concatenate([split.test for split in folds])
    assert sorted(tested) == list(range(120))


def test_classes_of_groups_are_spread_over_the_folds(tmp_path: Path) -> None:
    data = frame(100)
    data["person"] = data.index // 5
    data["kind"] = np.where(data["person"] % 4, "b", "a")
    for split in folds_by(data, tmp_path, group="person", target="kind", task="classification"):
        assert (data["kind"].iloc[split.test] == "a").sum() == 5


def test_groups_without_a_target_do_not_count(tmp_path: Path) -> None:
    data = frame(100)
    data["person"] = data.index // 5
    data["price"] = data["price"].where(data["person"] < 11)
    path = write(tmp_path, data)
    custom = read(path, folds=5, group="person")
    for split in custom.splits.values():
        known = np.isfinite(custom.table.truth[split.validation])
        assert known.sum() == 10


@pytest.mark.parametrize(("share", "part"), [(0.01, "validation"), (0.79, "train")])
def test_no_part_is_without_a_group(share: float, part: Part, tmp_path: Path) -> None:
    """The smallest group is in it."""
    data = frame(100)
    data["person"] = np.repeat(range(5), [10, 15, 20, 25, 30])
    for split in folds_by(data, tmp_path, group="person", validation_share=share):
        people = data["person"].drop(split.test)
        assert len(split.rows(part)) == people.value_counts().min()


@pytest.mark.parametrize("large", [0, 50])
def test_groups_come_near_the_validation_share(large: int, tmp_path: Path) -> None:
    """A group of fifty rows does not validate."""
    data = frame(100)
    data["person"] = np.where(data.index < large, 0, 1 + data.index // 5)
    for split in folds_by(data, tmp_path, group="person"):
        assert len(split.validation) <= 25
        assert large or len(split.validation) >= 15


def test_the_last_rows_in_time_are_tested(tmp_path: Path) -> None:
    data = frame(120).sample(frac=1, random_state=0)
    days = data["built"].to_numpy()
    data["built"] = data["built"].dt.strftime("%d %b %Y")
    (split,) = folds_by(data, tmp_path, time="built", validation_share=0.1)
    require_partition(split, 120)
    train, validation, test = (days[split.rows(part)] for part in PARTS)
    assert sizes(split) == [84, 12, 24]
    assert train.max() < validation.min()
    assert validation.max() < test.min()


def test_the_last_targets_in_time_are_tested(tmp_path: Path) -> None:
    """Rows of the future without a target are with the last ones that have one."""
    data = frame(120)
    data["price"] = data["price"].where(data.index < 100)
    (split,) = folds_by(data, tmp_path, time="built", validation_share=0.1)
    require_partition(split, 120)
    assert split.validation.tolist() == list(range(70, 80))
    assert split.test.tolist() == list(range(80, 120))


def test_rows_of_one_time_stay_together(tmp_path: Path) -> None:
    data = frame(100)
    data["year"] = 2000 + data.index // 30
    (split,) = folds_by(data, tmp_path, time="year")
    assert values_by_part(data["year"], split) == [{2000, 2001}, {2002}, {2003}]


@pytest.mark.parametrize("share", [0.2, 0.8])
@pytest.mark.parametrize("counts", [[50, 6, 2, 2], [2] * 10])
def test_rare_classes_keep_every_row(counts: list[int], share: float, tmp_path: Path) -> None:
    classes = [f"class{code}" for code in np.repeat(range(len(counts)), counts)]
    path = write(tmp_path, pd.DataFrame({"x": range(len(classes)), "y": classes}))
    folds = read(path, target="y", task="classification", validation_share=share).splits
    assert len(folds) == 10
    for split in folds.values():
        require_partition(split, len(classes))


def test_frequent_classes_are_spread_beside_rare_ones(tmp_path: Path) -> None:
    data = pd.DataFrame({"x": range(60), "y": np.repeat(["a", "b", "c"], [40, 18, 2])})
    prepared = read(write(tmp_path, data), target="y", task="classification")
    for split in prepared.splits.values():
        assert (prepared.table.truth[split.test] == 0).sum() == 4


def test_known_targets_are_spread_over_the_folds(tmp_path: Path) -> None:
    data = frame(100)
    data["price"] = data["price"].where(data.index % 5 == 0)
    path = write(tmp_path, data)
    custom = read(path, folds=5)
    for split in custom.splits.values():
        truth = custom.table.truth[split.test]
        assert np.isfinite(truth).sum() == 4


def test_known_classes_are_spread_over_the_folds(tmp_path: Path) -> None:
    data = frame(100)
    data["kind"] = np.where(data.index % 10, "b", "a")
    data["kind"] = data["kind"].where(data.index % 5 == 0)
    custom = read(write(tmp_path, data), target="kind", task="classification", folds=5)
    for split in custom.splits.values():
        truth = custom.table.truth[split.test]
        assert [(truth == code).sum() for code in (0, 1)] == [2, 2]
