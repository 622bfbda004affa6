"""Builders of result rows, studies and prepared datasets for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.data import store
from npt.interface import Prediction
from npt.table import HELD_OUT, Column, Split, Table, Task
from workflow.config.reading import read
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.planning.run import Run
from workflow.results import study_file
from workflow.results.predictions import fold_arrays, write_predictions
from workflow.results.row import Row, write_rows

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
        "revision": "1",
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


def study_frame(rows: Iterable[Row], name: str) -> pd.DataFrame:
    """Rows as a frame, without writing them."""
    frame = study_file.study_frame(tuple(rows), name)
    return pd.DataFrame(frame.to_dict("list"))


def study(rows: Iterable[Row], folder: Path, name: str = "main") -> pd.DataFrame:
    """Rows as the tables and figures receive them: written as a study and read again."""
    path = folder / f"{name}.csv"
    study_file.write_study(path, rows, name)
    return study_file.read_study(path)


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


def plan(**changes: Any) -> Plan:
    """Plan of three methods on two datasets and three folds, with a probe of two of them."""
    content: dict[str, Any] = {
        "folds": "0-2",
        "datasets": ["yacht", "wine"],
        "methods": ["npt", "knn", "mlp"],
        "studies": {"main": {}, "corruption": {"kind": "corruption", "methods": ["npt", "knn"]}},
    }
    planned = Plan.from_config(read({**content, **changes}))
    return Plan.model_validate_json(planned.model_dump_json())


def prepare(name: str, **facts: Any) -> None:
    """Write a prepared dataset under `results`."""
    store.save(paths.prepared(name), prepared(name, **facts))


def finish(plan: Plan, stem: str, folder: str = "", **changes: Any) -> None:
    """Write the rows and predictions of a run as its job would, or into another folder."""
    run = plan.runs[stem]
    dataset = prepared(run.dataset)
    arrays: dict[str, np.ndarray] = {}
    for fold in run.folds:
        split = dataset.splits[fold]
        predictions = {part: predicted(dataset, split.rows(part), run.method) for part in HELD_OUT}
        arrays |= fold_arrays(fold, split, predictions)
    write_predictions(Path(folder, paths.run_predictions(stem)), arrays)
    rows = [_row_of(run, fold, **{"validation_loss": 0.5, **changes}) for fold in run.folds]
    write_rows(Path(folder, paths.run_rows(stem)), rows)


def finish_all(plan: Plan, *but: str) -> None:
    """Write the rows of all runs but those whose stem begins so."""
    for stem in plan.runs:
        if not stem.startswith(but):
            finish(plan, stem)


def finish_probe(plan: Plan, study: str, stem: str, **changes: Any) -> None:
    """Write the rows of a study's probe of a run."""
    run = plan.runs[stem]
    facts = {"options": plan.studies[study].options, "rows": 1, "revision": "1.1", **changes}
    rows = [_row_of(run, fold, **facts) for fold in run.folds]
    write_rows(paths.probe_rows(study, stem), rows)


def predicted(dataset: store.Prepared, rows: np.ndarray, method: str) -> Prediction:
    """Predictions that are worse by another amount for every method."""
    error = {"npt": 0.5, "knn": 0.75, "mlp": 0.25}.get(method, 1.0)
    truth = dataset.table.truth[rows]
    if dataset.table.task == "regression":
        return Prediction(truth + error)
    classes = CLASSES[dataset.table.task]
    probabilities = np.full((len(rows), classes), error / classes)
    probabilities[np.arange(len(rows)), truth.astype(int)] += 1 - error
    return Prediction(probabilities)


def _row_of(run: Run, fold: int, **changes: Any) -> Row:
    identity = {"variant": run.variant, "seed": run.seed, "fingerprint": run.fingerprint}
    return row(run.method, fold, run.dataset, **{**identity, **changes})
