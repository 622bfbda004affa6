"""A part of the train rows, or of their labels."""

from __future__ import annotations

import numpy as np
import pytest

from baselines import methods
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.table import Split, Table, Task
from npt.train_rows import TrainRows
from tests.conftest import first_split, make_table

TASKS: tuple[Task, ...] = ("regression", "multiclass")


def labelled(table: Table, rows: np.ndarray) -> np.ndarray:
    return rows[~np.isnan(table.truth[rows])]


@pytest.mark.parametrize("task", TASKS)
def test_few_labels_are_nested_and_validation_labels_are_as_scarce(task: Task) -> None:
    table = make_table(task, 200)
    split = first_split(table)
    smaller: set[int] = set()
    for labels in (5, 20, 60):
        shown, its_split = TrainRows(labels=labels).of_fold(table, split)
        assert its_split is split
        rows = labelled(shown, split.train)
        assert len(rows) == labels
        assert smaller < set(rows.tolist())
        smaller = set(rows.tolist())
        validated = len(labelled(shown, split.validation))
        assert validated == max(1, round(len(split.validation) * labels / len(split.train)))


def test_few_labels_have_the_classes_in_proportion() -> None:
    table = make_table("multiclass", 400)
    split = first_split(table)
    shown, _ = TrainRows(labels=30).of_fold(table, split)
    rows = labelled(shown, split.train)
    shares = np.bincount(table.truth[split.train].astype(int)) / len(split.train)
    counts = np.bincount(table.truth[rows].astype(int), minlength=len(shares))
    assert np.abs(counts - 30 * shares).max() <= 1


def test_other_rows_are_present_permuted_or_absent() -> None:
    table = make_table("regression", 100)
    split = first_split(table)
    present, _ = TrainRows(labels=10).of_fold(table, split)
    permuted, _ = TrainRows(labels=10, unlabelled="permuted").of_fold(table, split)
    absent, its_split = TrainRows(labels=10, unlabelled="absent").of_fold(table, split)
    rows = labelled(present, split.train)
    others = np.setdiff1d(split.train, rows)
    features = table.features
    assert np.array_equal(present.values[:, features], table.values[:, features], equal_nan=True)
    changed = permuted.values[:, features] != table.values[:, features]
    assert changed[others].any(axis=0).all()
    for j in features:
        before, after = np.sort(table.numbers(j, others)), np.sort(permuted.numbers(j, others))
        assert np.array_equal(before, after, equal_nan=True)
    kept = np.setdiff1d(np.arange(table.rows), others)
    assert np.array_equal(permuted.values[kept], present.values[kept], equal_nan=True)
    assert np.array_equal(absent.values, present.values[kept], equal_nan=True)
    assert np.array_equal(absent.truth[its_split.train], table.truth[rows])


@pytest.mark.parametrize("name", ["npt", "npt_compact", "npt_solved", "gaussian_process", "knn"])
@pytest.mark.parametrize("unlabelled", ["present", "permuted"])
def test_hidden_labels_never_reach_a_model(name: str, unlabelled: str) -> None:
    table = make_table("regression", 60)
    split = first_split(table)
    train = TrainRows.model_validate({"labels": 12, "unlabelled": unlabelled})
    shown, _ = train.of_fold(table, split)
    hidden = np.isnan(shown.truth)
    other = table.with_numbers(table.target, np.where(hidden, 1e3 - table.truth, table.truth))
    before, after = predictions(name, train, table, split), predictions(name, train, other, split)
    assert np.array_equal(before, after)


def predictions(name: str, train: TrainRows, table: Table, split: Split) -> np.ndarray:
    method = methods()[name]
    learner = method.build(method.settings(**method.test_settings), Resources())
    evaluation = evaluate(learner, *train.of_fold(table, split), seed=0)
    assert evaluation.status == "ok", evaluation.reason
    return evaluation.predictions["test"].values


def test_more_labels_than_there_are_is_refused() -> None:
    table = make_table("regression", 60)
    split = first_split(table)
    refusal = TrainRows(labels=len(split.train)).refusal(table, split)
    assert refusal is not None
    assert str(len(split.train)) in refusal
    assert TrainRows(labels=10).refusal(table, split) is None
    assert TrainRows().refusal(table, split) is None
