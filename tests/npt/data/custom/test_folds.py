"""Folds of custom datasets: groups, times, rare classes, missing targets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.table import PARTS, Split
from tests.npt.data.custom.tables import frame, kinds, prepare, write


def require_partition(split: Split, rows: int) -> None:
    parts = [split.rows(part) for part in PARTS]
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    assert min(map(len, parts)) > 0


def values_by_part(values: pd.Series, split: Split) -> list[set[object]]:
    return [set(values.iloc[split.rows(part)]) for part in PARTS]


def count_tests(splits: Iterable[Split], rows: int) -> np.ndarray:
    tested = np.concatenate([split.test for split in splits])
    return np.bincount(tested, minlength=rows)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_rows_of_a_group_stay_together(task: str, tmp_path: Path) -> None:
    data = frame(120).assign(person=[f"p{i % 17}" for i in range(120)])
    target = "price" if task == "regression" else "colour"
    path = write(tmp_path, data)
    custom, folds = prepare(path, target=target, task=task, group="person", folds=5)
    assert "person" not in kinds(custom.table)
    for split in folds.values():
        require_partition(split, 120)
        train, validation, test = values_by_part(data["person"], split)
        assert not train & validation
        assert not train & test
        assert not validation & test
    assert (count_tests(folds.values(), 120) == 1).all()


def test_groups_come_near_the_validation_share(tmp_path: Path) -> None:
    even = frame(100).assign(person=[i // 5 for i in range(100)])
    _, folds = prepare(write(tmp_path, even), group="person", folds=5)
    assert all(abs(len(split.validation) - 20) <= 5 for split in folds.values())
    uneven = frame(100).assign(person=[0] * 50 + list(range(1, 51)))
    _, folds = prepare(write(tmp_path, uneven), group="person", folds=5)
    assert all(len(split.validation) <= 25 for split in folds.values())


def test_the_last_rows_in_time_are_tested(tmp_path: Path) -> None:
    data = frame(120).sample(frac=1, random_state=0)
    days = data["built"].to_numpy()
    data["built"] = data["built"].dt.strftime("%d %b %Y")
    path = write(tmp_path, data)
    _, folds = prepare(path, time="built", folds=5, validation_share=0.1)
    assert list(folds) == [0]
    require_partition(folds[0], 120)
    train, validation, test = (days[folds[0].rows(part)] for part in PARTS)
    assert (len(train), len(validation), len(test)) == (84, 12, 24)
    assert train.max() < validation.min() <= validation.max() < test.min()


def test_rows_of_one_time_stay_together(tmp_path: Path) -> None:
    data = frame(100).assign(year=[2000 + i // 30 for i in range(100)])
    _, folds = prepare(write(tmp_path, data), time="year", folds=5)
    years = values_by_part(data["year"], folds[0])
    assert years == [{2000, 2001}, {2002}, {2003}]


@pytest.mark.parametrize(
    "style", ["%d/%m/%Y", "%d.%m.%Y", "%Y-%m-%d", "%d %B %Y", "%m/%d/%Y %H:%M"]
)
def test_dates_are_read_in_one_style(style: str, tmp_path: Path) -> None:
    days = pd.date_range("2001-01-01", periods=100, freq="D")
    data = frame(100).assign(day=days.strftime(style)).sample(frac=1, random_state=0)
    _, folds = prepare(write(tmp_path, data), time="day", folds=5)
    assert sorted(data.index[folds[0].test]) == list(range(80, 100))


def test_the_last_rows_as_the_only_test_set(tmp_path: Path) -> None:
    _, folds = prepare(write(tmp_path, frame(100)), test_rows=30, validation_share=0.1)
    assert folds[0].test.tolist() == list(range(70, 100))
    assert len(folds[0].validation) == 7


def test_rare_classes_keep_every_row(tmp_path: Path) -> None:
    classes = ["a"] * 50 + ["b"] * 6 + ["c"] * 2 + ["d"] * 2
    path = write(tmp_path, pd.DataFrame({"x": range(60), "y": classes}))
    _, folds = prepare(path, target="y", task="classification")
    for split in folds.values():
        require_partition(split, 60)


def test_classes_of_two_rows_have_all_folds(tmp_path: Path) -> None:
    data = pd.DataFrame({"x": range(20), "y": [f"class{i // 2}" for i in range(20)]})
    custom, folds = prepare(write(tmp_path, data), target="y", task="classification")
    assert custom.table.columns[1].size == 10
    assert len(folds) == 10


def test_known_targets_are_spread_over_the_folds(tmp_path: Path) -> None:
    data = frame(100)
    data["price"] = data["price"].where(data.index % 5 == 0)
    custom, folds = prepare(write(tmp_path, data), folds=5)
    for split in folds.values():
        assert (~np.isnan(custom.table.truth[split.test])).sum() == 4
