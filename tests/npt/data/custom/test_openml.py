"""Datasets of OpenML, from a server that is replaced."""

import itertools
import json
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any
from urllib.error import URLError

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from npt.data.custom import CustomDataset
from npt.data.custom.formats import Content
from npt.data.custom.reading import prepare_custom
from npt.errors import UserError
from tests.npt.data.custom.tables import declare, kinds

ROWS = pd.DataFrame(
    {
        "size": [1.5, np.nan, 2.5, 3.5],
        "colour": pd.Categorical(["red", "blue", None, "red"]),
        "rooms": pd.Categorical([3, 1, 2, 3]),
        "price": [10.0, 11.0, 12.0, 13.5],
    }
)


def houses(**changes: Any) -> CustomDataset:
    return declare("", **{"openml": 7, "test_rows": 1, **changes})


def test_declared_types_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(**options: Any) -> Any:
        assert (options["data_id"], options["data_home"]) == (7, tmp_path / "openml")
        return SimpleNamespace(frame=ROWS)

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    custom = prepare_custom(houses(), tmp_path)
    is_category = [kind == "categorical" for kind in kinds(custom.table).values()]
    assert is_category == [False, True, True, False]
    assert np.isnan(custom.table.values).sum() == 2
    assert prepare_custom(houses(), tmp_path).facts == custom.facts
    assert np.isnan(prepare_custom(houses(missing=[2.5]), tmp_path).table.values).sum() == 3


def test_an_unreachable_server_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", fail)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(UserError, match=r"OpenML 7: .*no route") as error:
        prepare_custom(houses(), tmp_path)
    assert "\n" not in str(error.value)


SPLITS = """@RELATION splits
@ATTRIBUTE type {TRAIN,TEST}
@ATTRIBUTE rowid NUMERIC
@ATTRIBUTE repeat NUMERIC
@ATTRIBUTE fold NUMERIC
@DATA
"""


def answer(address: str) -> str:
    """What OpenML has at an address, of a task with two repetitions of two folds."""
    if address == "https://www.openml.org/api/v1/json/task/5":
        data = {"data_set_id": "7", "target_feature": "price"}
        procedure = {"data_splits_url": "splits.arff"}
        inputs = [
            {"name": "source_data", "data_set": data},
            {"name": "estimation_procedure", "estimation_procedure": procedure},
        ]
        facts = {"task_id": "5", "task_type_id": "2", "task_type": "Supervised Regression"}
        return json.dumps({"task": {**facts, "input": inputs}})
    assert address == "splits.arff"
    lines = []
    for repeat, fold, row in itertools.product(range(2), range(2), range(8)):
        part = "TEST" if (row // (1 + repeat)) % 2 == fold else "TRAIN"
        lines.append(f"{part},{row},{repeat},{fold}")
    return SPLITS + "\n".join(lines)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The task, and a dataset of eight rows, in the place of OpenML's."""
    rows = pd.DataFrame({"size": np.arange(8.0) ** 2 % 5, "price": np.arange(8.0)})
    content = Content(list(rows), pa.Table.from_pandas(rows), "0")
    monkeypatch.setattr("npt.data.custom.reading.read_openml", lambda *_: content)

    def download(address: str, stream: IO[bytes]) -> bool:
        stream.write(answer(address).encode())
        return True

    monkeypatch.setattr("npt.data.custom.openml_task.download", download)


def task(**changes: Any) -> CustomDataset:
    return houses(**{"openml": None, "openml_task": 5, "test_rows": 0, "folds": 4, **changes})


@pytest.mark.usefixtures("server")
def test_folds_of_a_task_are_its_own(tmp_path: Path) -> None:
    folds = prepare_custom(task(validation_share=0.25), tmp_path).splits
    assert [split.rows("test").tolist() for split in folds.values()] == [
        [0, 2, 4, 6],
        [1, 3, 5, 7],
        [0, 1, 4, 5],
        [2, 3, 6, 7],
    ]
    assert len(folds[0].rows("validation")) == 1


@pytest.mark.usefixtures("server")
def test_kept_task_needs_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = prepare_custom(task(), tmp_path)
    monkeypatch.setattr("npt.data.custom.openml_task.download", lambda *_: False)
    again = prepare_custom(task(), tmp_path)
    assert str(again.splits) == str(first.splits)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    ("key", "changes"),
    [("folds", {"folds": 3}), ("target", {"target": "size"}), ("task", {"task": "classification"})],
)
def test_task_must_be_as_declared(key: str, changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"OpenML's task 5: {key}: "):
        prepare_custom(task(**changes), tmp_path)


@pytest.mark.usefixtures("server")
def test_damaged_task_is_named(tmp_path: Path) -> None:
    prepare_custom(task(), tmp_path)
    for kept in (tmp_path / "openml" / "tasks").iterdir():
        content = kept.read_bytes()
        kept.write_bytes(content[: len(content) // 3])
        with pytest.raises(UserError, match="remove it"):
            prepare_custom(task(), tmp_path)
        kept.write_bytes(content)
