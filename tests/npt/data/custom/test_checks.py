"""Declarations and tables that are refused, each with a line that names the key or the column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.data.datasets import datasets
from npt.interface import UserError
from tests.npt.data.custom.tables import ROWS, declare, frame, prepare, write

TEXT = frame().to_csv(index=False)
PRICES = frame()["price"]


def refused(key: str, path: Path, **changes: Any) -> None:
    with pytest.raises(UserError) as error:
        prepare(path, **changes)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert key in message.removeprefix(str(path))
    assert "\n" not in message


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"target": None}, "mine.target"),
        ({"target": ""}, "mine.target: is empty"),
        ({"task": "ranking"}, "mine.task"),
        ({"flods": 3}, "flods"),
        ({"path": ""}, "path"),
        ({"openml": 3}, "openml"),
        ({"path": "", "openml": 0}, "mine.openml"),
        ({"path": "{x}.csv"}, "mine.path"),
        ({"folds": 1}, "mine.folds"),
        ({"folds": "3"}, "mine.folds"),
        ({"validation_share": 0.95}, "validation_share"),
        ({"validation_share": 1.0, "test_rows": 3}, "mine.validation_share"),
        ({"test_rows": -1}, "mine.test_rows"),
        ({"group": "a", "time": "b"}, "group"),
        ({"separator": ", "}, "mine.separator"),
        ({"separator": "\n"}, "mine.separator"),
        ({"drop": [True]}, "mine.drop"),
        ({"categorical": ["price"]}, "target"),
    ],
)
def test_a_wrong_declaration_names_its_key(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(UserError) as error:
        declare(**{"path": "my.csv", **changes})
    assert key in str(error.value)
    assert "\n" not in str(error.value)


def test_columns_may_be_numbers_or_single_names() -> None:
    dataset = declare("my.csv", target=3, drop="size", missing=["?", -999])
    assert dataset.target == "3"
    assert dataset.drop == ("size",)
    assert dataset.missing == ("?", "-999")


def test_a_declaration_survives_json() -> None:
    dataset = declare("my.csv", drop=["size"], folds=3)
    assert declare(**dataset.model_dump(mode="json", exclude={"name"})) == dataset
    assert dataset.fingerprint() == declare("my.csv", drop=["size"], folds=3).fingerprint()
    assert dataset.fingerprint() != declare("my.csv", drop=["size"], folds=4).fingerprint()


def test_another_version_of_the_preparation_changes_fingerprints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yacht = datasets()["yacht"]
    declared = [yacht, declare("my.csv")]
    before = [dataset.fingerprint() for dataset in declared]
    for module in ("npt.data.declaration", "npt.data.custom.dataset"):
        monkeypatch.setattr(f"{module}.PREPARATION", 0)
    after = [dataset.fingerprint() for dataset in declared]
    assert not set(before) & set(after)
    assert replace(yacht, version=2).fingerprint() != after[0]


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"target": "prise"}, "target"),
        ({"drop": ["x"]}, "drop"),
        ({"drop": ["price"]}, "drop"),
        ({"categorical": ["rooms"], "continuous": ["rooms"]}, "continuous"),
        ({"target": "colour"}, "'colour'"),
        ({"continuous": ["colour"]}, "'colour'"),
        ({"target": "garden", "task": "multiclass"}, "target 'garden'"),
        ({"group": "size", "folds": 50}, "groups"),
        ({"folds": 41}, "rows"),
        ({"test_rows": 40}, "test_rows"),
        ({"test_rows": 39}, "validation_share"),
        ({"time": "colour"}, "time: 'colour'"),
    ],
)
def test_a_declaration_that_does_not_fit_the_table(
    changes: dict[str, Any], key: str, tmp_path: Path
) -> None:
    refused(key, write(tmp_path, TEXT), **changes)


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("rooms", ["3", "x"] + ["4"] * 38),
        ("size", [1.0, np.inf] + [2.0] * 38),
        ("x", [2**60] * ROWS),
        ("x", [1e200] * ROWS),
        ("x", ["1,5", "2,25"] * 20),
        ("x", ["1,020", "12"] * 20),
        ("x", ["12%", "7 %"] * 20),
        ("x", ["-$5", "$1,000.5"] * 20),
        ("x", ["€5", "7"] * 20),
        ("x", [str(i) if i < 20 else "unknown" for i in range(ROWS)]),
        ("price", [7.0] * ROWS),
        ("price", [np.nan] * ROWS),
        ("price", [1.0, -np.inf] + [2.0] * 38),
    ],
)
def test_a_column_that_would_be_misread(column: str, cells: list[Any], tmp_path: Path) -> None:
    refused(f"{column!r}", write(tmp_path, frame().assign(**{column: cells})))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("missing", [None, "?", "-999"])
def test_inexact_integers_beside_missing_cells(
    ending: str, missing: str | None, tmp_path: Path
) -> None:
    cells = [missing] + [str(2**60 + i) for i in range(1, ROWS)]
    data = frame().assign(x=cells)
    path = write(tmp_path, data, f"my.{ending}")
    if ending == "parquet":
        if missing != "?":
            data["x"] = data["x"].astype("Int64")
        data.to_parquet(path)
    refused("'x' has whole numbers beyond 2^53", path, missing=["?", -999])


def test_an_identifier_is_refused(tmp_path: Path) -> None:
    data = frame(120).assign(id=[f"h{i}" for i in range(120)])
    refused("'id'", write(tmp_path, data))


@pytest.mark.parametrize("hidden", [0, 4])
def test_a_copy_of_the_target_is_refused(hidden: int, tmp_path: Path) -> None:
    copy = PRICES.where(PRICES.index >= hidden)
    refused("column 'copy'", write(tmp_path, frame().assign(copy=copy)))


def test_classes_under_other_names_are_refused(tmp_path: Path) -> None:
    data = frame().assign(y=["a", "b"] * 20, z=[1, 0] * 20)
    refused("column 'z'", write(tmp_path, data), target="y", task="classification")


@pytest.mark.parametrize("classes", [120, 60])
def test_numbers_as_classes_are_refused(classes: int, tmp_path: Path) -> None:
    data = frame(120).assign(price=[i % classes for i in range(120)])
    refused("target 'price'", write(tmp_path, data), task="classification")


def test_a_class_of_one_row_is_refused(tmp_path: Path) -> None:
    data = frame().assign(y=["a"] * 39 + ["b"])
    refused("class 'b'", write(tmp_path, data), target="y", task="classification")


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (TEXT.replace("rooms", "size", 1), "columns 1 and 2"),
        (TEXT.replace("size", '"si\nze"', 1), "column 1"),
        (frame().to_csv(index=True), "column ''"),
        (frame()[["price"]].to_csv(index=False), "feature"),
    ],
)
def test_a_header_without_meaning(content: str, key: str, tmp_path: Path) -> None:
    refused(key, write(tmp_path, content))


def test_a_missing_group_or_time_is_refused(tmp_path: Path) -> None:
    data = frame().assign(group=[None] + ["a", "b", "c"] * 13, when=[np.nan] + [1.0, 2.0, 3.0] * 13)
    path = write(tmp_path, data)
    refused("group: 'group'", path, group="group")
    refused("time: 'when'", path, time="when")


def test_too_few_rows_groups_or_times(tmp_path: Path) -> None:
    few = write(tmp_path, frame(3), "few.csv")
    refused("rows", few, folds=2, validation_share=0.45)
    path = write(tmp_path, frame().assign(g=list("aabb") * 10, when=1))
    refused("2 groups", path, group="g", folds=2)
    refused("times", path, time="when")


@pytest.mark.parametrize(
    ("first_known", "last_known", "changes"),
    [(0, 80, {"test_rows": 10}), (96, 100, {"time": "built"})],
)
def test_a_part_without_known_targets(
    first_known: int, last_known: int, changes: dict[str, Any], tmp_path: Path
) -> None:
    data = frame(100)
    known = (data.index >= first_known) & (data.index < last_known)
    data["price"] = data["price"].where(known)
    refused("fold 0", write(tmp_path, data), **changes)


@pytest.mark.parametrize(
    "cells",
    [
        ["", True] + [False] * 38,
        [True] * 20 + [False] * 20,
        ["-5001-01-01"] + ["2001-01-01"] * 39,
        ["now"] + ["2001-01-01"] * 39,
        ["today"] * ROWS,
    ],
)
def test_times_that_are_not_dates_are_refused(cells: list[Any], tmp_path: Path) -> None:
    refused("time: 'when'", write(tmp_path, frame().assign(when=cells)), time="when")


def test_dates_with_two_readings_are_refused(tmp_path: Path) -> None:
    days = [f"{i % 12 + 1:02}/{i // 12 + 1:02}/2001" for i in range(24)]
    path = write(tmp_path, pd.concat([frame(24), pd.Series(days, name="day")], axis=1))
    refused("time: 'day'", path, time="day")
