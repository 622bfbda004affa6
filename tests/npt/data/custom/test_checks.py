"""Declarations and tables that are refused, each with a line that names the key or the column."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.data.datasets import datasets
from npt.errors import UserError
from tests.npt.data.custom.tables import ROWS, declare, frame, read, write

TEXT = frame().to_csv(index=False)
PRICES = frame()["price"]


def refused(key: str, path: Path, **changes: Any) -> None:
    with pytest.raises(UserError) as error:
        read(path, **changes)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert key in message.removeprefix(str(path))
    assert "\n" not in message


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"target": ""}, "mine.target: is empty"),
        ({"flods": 3}, "flods"),
        ({"path": ""}, "path"),
        ({"openml": 3}, "openml"),
        ({"path": "{x}.csv"}, "mine.path"),
        ({"folds": 1}, "mine.folds"),
        ({"validation_share": 0.95}, "validation_share"),
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


def test_a_declaration_survives_json() -> None:
    dataset = declare("my.csv", target=3, drop="size", missing=["?", -999], folds=3)
    assert (dataset.target, dataset.drop) == ("3", ("size",))
    assert dataset.missing == ("?", "-999")
    assert declare(**dataset.model_dump(mode="json", exclude={"name"})) == dataset


def test_fingerprints_depend_on_declaration_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    yacht = datasets()["yacht"]
    declared = [yacht, replace(yacht, version=2), declare("my.csv"), declare("my.csv", folds=4)]
    before = {dataset.fingerprint() for dataset in declared}
    assert before == {dataset.fingerprint() for dataset in declared}
    for module in ("npt.data.declaration", "npt.data.custom.dataset"):
        monkeypatch.setattr(f"{module}.PREPARATION", 0)
    assert len(before | {dataset.fingerprint() for dataset in declared}) == 8


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
def test_declarations_must_fit_the_table(changes: dict[str, Any], key: str, tmp_path: Path) -> None:
    refused(key, write(tmp_path, TEXT), **changes)


@pytest.mark.parametrize("classes", [120, 60])
def test_numbers_as_classes_are_refused(classes: int, tmp_path: Path) -> None:
    data = frame(120).assign(price=[i % classes for i in range(120)])
    refused("target 'price'", write(tmp_path, data), task="classification")
    data["price"] = ["a"] * 119 + ["b"]
    refused("class 'b'", write(tmp_path, data), task="classification")


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (TEXT.replace("rooms", "size", 1), "columns 1 and 2"),
        (TEXT.replace("size", '"si\nze"', 1), "column 1"),
        (frame().to_csv(index=True), "column ''"),
        (frame()[["price"]], "feature"),
        (frame().assign(price=7.0), "'price'"),
        (frame().assign(price=np.nan), "'price'"),
        (frame().assign(price=[1.0, -np.inf] + [2.0] * 38), "'price'"),
    ],
)
def test_a_header_or_target_without_meaning(content: Any, key: str, tmp_path: Path) -> None:
    refused(key, write(tmp_path, content))


def test_a_missing_group_or_time_is_refused(tmp_path: Path) -> None:
    data = frame().assign(group=[None] + ["a", "b", "c"] * 13, when=[np.nan] + [1.0, 2.0, 3.0] * 13)
    data["flag"] = ["True", "False"] * (ROWS // 2)
    data["day"] = ["now"] + ["2001-01-01"] * (ROWS - 1)
    path = write(tmp_path, data)
    refused("group: 'group'", path, group="group")
    for name in ("when", "flag", "day"):
        refused(f"time: '{name}'", path, time=name)


def test_too_few_rows_groups_or_times(tmp_path: Path) -> None:
    few = write(tmp_path, frame(3), "few.csv")
    refused("rows", few, folds=2, validation_share=0.45)
    path = write(tmp_path, frame().assign(g=list("aabb") * 10, when=1))
    refused("2 groups", path, group="g", folds=2)
    refused("times", path, time="when")
    data = frame().assign(g=np.arange(ROWS) // 8)
    data["price"] = data["price"].where(data["g"] < 2)
    refused("group: 1 with a target", write(tmp_path, data), group="g", folds=5)


@pytest.mark.parametrize(
    ("first_known", "last_known", "changes"),
    [(0, 80, {"test_rows": 10}), (97, 100, {"time": "built"})],
)
def test_a_part_without_known_targets(
    first_known: int, last_known: int, changes: dict[str, Any], tmp_path: Path
) -> None:
    data = frame(100)
    known = (data.index >= first_known) & (data.index < last_known)
    data["price"] = data["price"].where(known)
    refused("fold 0", write(tmp_path, data), **changes)


@pytest.mark.parametrize(
    ("column", "target"),
    [
        (PRICES.where(PRICES.index >= 4), "price"),
        (-np.exp(PRICES / 100), "price"),
        ([1, 0] * (ROWS // 2), "class"),
        ([f"{'ab'[i % 2]}{i % 3}" for i in range(ROWS)], "class"),
    ],
)
def test_a_leak_of_the_target_is_refused(column: Any, target: str, tmp_path: Path) -> None:
    data = frame().assign(leak=column, **{"class": ["a", "b"] * (ROWS // 2)})
    task = "regression" if target == "price" else "classification"
    path = write(tmp_path, data.drop(columns={"price", "class"} - {target}))
    refused("column 'leak'", path, target=target, task=task)


def test_the_single_feature_of_a_curve_may_be_monotone(tmp_path: Path) -> None:
    path = write(tmp_path, pd.DataFrame({"x": range(ROWS), "price": np.arange(ROWS) ** 2.0}))
    assert read(path).table.rows == ROWS
