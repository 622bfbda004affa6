"""Tasks of OpenML: a dataset, its target, and the pairs of train and test rows of all benchmarks.

The description and the splits are kept among the downloads. What the server says is checked
against the declaration, and the splits of a run are in the `splits` of its rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.atomic import replacing
from npt.data.download import download
from npt.errors import UserError

SERVER = "https://www.openml.org"
KINDS = {"1": "classification", "2": "regression"}  # by OpenML's number of the kind of task


def read_task(number: int, downloads: Path, target: str, kind: str) -> tuple[int, pd.DataFrame]:
    """The dataset's number, and the splits, of a task, which is kept among the downloads.

    The splits have columns `rowid`, `repeat`, `fold` and `type` (`TRAIN` or `TEST`).

    Raises:
        UserError: It cannot be fetched, or has another target or kind than declared.
    """
    folder = downloads / "openml" / "tasks"
    address = f"{SERVER}/api/v1/json/task/{number}"
    description = _kept(folder / f"{number}.json", address, _parsed_description)
    actual = KINDS.get(description["task_type_id"], description["task_type"])
    if actual != ("regression" if kind == "regression" else "classification"):
        raise UserError(f"task: {kind}; OpenML has {actual}")
    inputs = {part["name"]: part for part in description["input"]}
    source = inputs["source_data"]["data_set"]
    if source["target_feature"] != target:
        raise UserError(f"target: {target!r}; OpenML has {source['target_feature']!r}")
    address = inputs["estimation_procedure"]["estimation_procedure"]["data_splits_url"]
    splits = _kept(folder / f"{number}.arff", address, _parsed_splits)
    return int(source["data_set_id"]), splits


def pairs_of(splits: pd.DataFrame, rows: int, folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Other rows (n,) and test rows (m,) of each fold, repetition by repetition.

    Raises:
        UserError: The task has another number of folds, or rows that the table lacks.
    """
    by_fold = splits.groupby(["repeat", "fold"])
    if len(by_fold) != folds:
        raise UserError(f"folds: {folds}; the task has {len(by_fold)} in all repetitions")
    last = splits["rowid"].max()
    if last >= rows:
        raise UserError(f"the splits name row {last}, the dataset has {rows} rows")
    pairs = []
    for _, part in by_fold:
        is_test = part["type"] == "TEST"
        other_rows = part.loc[~is_test, "rowid"].to_numpy()
        pairs.append((other_rows, part.loc[is_test, "rowid"].to_numpy()))
    return pairs


def _kept(path: Path, address: str, parse: Callable[[str], Any]) -> Any:
    """A parsed answer of the server, which is kept."""
    if not path.exists():
        with replacing(path) as partial, partial.open("ab") as stream:
            if not download(address, stream):
                raise UserError(f"cannot be fetched from {address}, and is not in {path.parent}")
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError):
        raise UserError(
            f"{path} is damaged, or of no task with folds; remove it to download it again"
        ) from None


def _parsed_description(text: str) -> dict[str, Any]:
    task = json.loads(text)["task"]
    names = {part["name"] for part in task["input"]}
    if not {"source_data", "estimation_procedure"} <= names:
        raise ValueError("not a supervised task")
    return task


def _parsed_splits(text: str) -> pd.DataFrame:
    import arff

    try:
        content = arff.loads(text)
    except arff.ArffException as error:
        raise ValueError("no splits") from error
    names = [name.lower() for name, _ in content["attributes"]]
    splits = pd.DataFrame(content["data"], columns=names)
    splits = splits.astype({"rowid": int, "repeat": int, "fold": int})
    rows = splits.groupby(["repeat", "fold"])["rowid"].nunique()
    if not set(splits["type"]) <= {"TRAIN", "TEST"} or rows.nunique() != 1:
        raise ValueError("incomplete splits")
    return splits
