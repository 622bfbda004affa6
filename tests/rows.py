"""Builders of result rows, studies and prepared datasets for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.data import store
from npt.table import Column, Split, Table, Task
from workflow.results.row import Row
from workflow.results.study_file import read_study, write_study

TASKS: dict[str, Task] = {"yacht": "regression", "wine": "multiclass", "breast_cancer": "binary"}
CLASSES = {"regression": 0, "binary": 2, "multiclass": 3}
FACTS: dict[str, Any] = {"content": "c", "splits": "s", "origins": {}, "licence": "none"}


def row(method: str = "knn", fold: int = 0, dataset: str = "yacht", **changes: Any) -> Row:
    """A finished row; the task follows from the dataset."""
    values: dict[str, Any] = {
        "dataset": dataset,
        "task": TASKS.get(dataset, "regression"),
        "method": method,
        "variant": "base",
        "fold": fold,
        "seed": 0,
        "preset": "toy",
        "fingerprint": "f",
        "data": "c",
        "splits": "s",
        "revision": "r",
        "versions": {"numpy": "2"},
        "status": "ok",
        "reason": "",
    }
    return Row(**{**values, **changes})


def failed(
    method: str = "knn", fold: int = 0, reason: str = "out of memory", **changes: Any
) -> Row:
    """A row of a method that could not produce a result."""
    return row(method, fold, status="failed", reason=reason, **changes)


def study(rows: Iterable[Row], folder: Path, name: str = "main") -> pd.DataFrame:
    """Rows as the tables and figures receive them: written as a study and read again."""
    path = folder / f"{name}.csv"
    write_study(path, rows, name)
    return read_study(path)


def table(task: Task) -> Table:
    """A table of four rows that has a target alone."""
    if task == "regression":
        return Table((Column("y", "continuous"),), (np.array([0.0, 1, 2, 1]),), 0)
    levels = ("a", "b", "c")[: CLASSES[task]]
    return Table((Column("y", "categorical", levels),), (np.array([0, 1, 1, 0], np.int32),), 0)


def prepared(name: str = "yacht", folds: int = 3, **facts: Any) -> store.Prepared:
    """A dataset of four rows: two train rows, a validation row and a test row in every fold."""
    train, validation, test = np.array([0, 1]), np.array([2]), np.array([3])
    splits = {fold: Split(fold, train, validation, test) for fold in range(folds)}
    task = TASKS.get(name, "regression")
    return store.Prepared(table(task), splits, {**FACTS, "name": name, **facts})
