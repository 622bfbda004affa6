"""A trained network: what its predictions depend on, its memory, and its file of weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from npt.compact import model
from npt.compact.learner import CompactLearner
from npt.compact.probe import CompactProbe
from npt.compact.trained import TrainedCompactNPT
from npt.interface import Resources
from npt.perturbation import Perturbation
from npt.table import TASKS, Task
from tests.conftest import first_split
from tests.npt.compact.tables import (
    SEED,
    TINY,
    fitted,
    mixed_table,
)

EXACT = {"rtol": 0, "atol": 1e-12}
_TRAINED: dict[Task, TrainedCompactNPT] = {}


def trained_on(task: Task) -> TrainedCompactNPT:
    """One network for each task, which no test changes."""
    if task not in _TRAINED:
        _TRAINED[task] = fitted(TINY.changed(learning_rate=0.03), mixed_table(task))
    return _TRAINED[task]


def rows_of_test(task: Task = "regression") -> np.ndarray:
    return first_split(mixed_table(task)).test


@pytest.mark.parametrize("task", TASKS)
def test_a_row_is_predicted_alike_whatever_the_others(task: Task) -> None:
    trained = trained_on(task)
    rows = rows_of_test(task)
    together = trained.predict(rows).values
    alone = np.concatenate([trained.predict(rows[[i]]).values for i in range(len(rows))])
    assert np.allclose(together, alone, **EXACT)
    assert np.allclose(trained.predict(rows[::-1]).values, together[::-1], **EXACT)
    assert np.allclose(trained.predict(np.r_[rows, rows]).values[: len(rows)], together, **EXACT)
    assert len(np.unique(together.round(6), axis=0)) > 2


@pytest.mark.parametrize("task", TASKS)
def test_the_order_of_the_context_does_not_matter(task: Task) -> None:
    trained = trained_on(task)
    rows = rows_of_test(task)
    turned = replace(trained, context_rows=trained.context_rows[::-1].copy())
    assert np.allclose(turned.predict(rows).values, trained.predict(rows).values, **EXACT)


@pytest.mark.parametrize("cells", [1, 1000, 2**30])
def test_chunks_do_not_matter(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = trained_on("regression")
    rows = rows_of_test()
    expected = trained.predict(rows).values
    monkeypatch.setattr(model, "PREDICTED_CELLS", cells)
    assert np.allclose(trained.predict(rows).values, expected, **EXACT)


@pytest.mark.parametrize("labels_of_others", [True, False])
def test_labels_of_the_context_matter_unless_they_are_hidden(labels_of_others: bool) -> None:
    trained = fitted(TINY.changed(labels_of_others=labels_of_others))
    truth = trained.table.truth
    truth[trained.context_rows[0]] += 5
    other = replace(trained, table=trained.table.with_numbers(0, truth))
    rows = rows_of_test()
    same = trained.predict(rows).values == other.predict(rows).values
    assert same.any() != labels_of_others


def test_probabilities_are_the_mean_of_those_of_the_members() -> None:
    trained = trained_on("multiclass")
    rows = rows_of_test("multiclass")
    outputs = trained.outputs(trained.encoder.encode(trained.table, rows)).numpy()
    odds = np.exp(outputs)
    expected = (odds / odds.sum(-1, keepdims=True)).mean(0)
    assert np.allclose(trained.predict(rows).values, expected)


def test_the_context_is_a_bounded_random_part_of_the_train_rows() -> None:
    table = mixed_table(rows=120)
    split = first_split(table)
    hidden = split.train[:10]
    bounded = TINY.changed(context_rows=20, updates=2)
    contexts = []
    for seed in (1, 2):
        trained = TrainedCompactNPT.untrained(
            bounded, Resources(), table.hide(hidden, 0), split, seed
        )
        rows = trained.context_rows
        assert len(np.unique(rows)) == 20
        assert set(rows) <= set(split.train) - set(hidden)
        assert all(keys.shape[2] == 20 for keys, _ in trained.context.pairs)
        contexts.append(rows.tolist())
    assert contexts[0] != contexts[1]
    for limit in (None, 1000):
        unbounded = bounded.changed(context_rows=limit)
        trained = TrainedCompactNPT.untrained(unbounded, Resources(), table, split, 1)
        assert trained.context_rows.tolist() == split.train.tolist()


def test_evaluated_and_predicting_contexts_are_the_same() -> None:
    settings = TINY.changed(context_rows=20, updates=5, evaluate_every=5)
    table = mixed_table()
    split = first_split(table)
    learner = CompactLearner(settings, Resources())
    fit = learner.fit(table.blind(split.test), split, SEED)
    trained = learner.trained
    errors = trained.predict(split.validation).values - table.truth[split.validation]
    expected = np.mean(errors**2) / table.truth[split.train].var()
    assert fit.validation_loss == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rows", ["test", "validation"])
def test_perturbed_rows_that_none_attends_to_change_nothing(rows: Any) -> None:
    trained = trained_on("regression")
    perturbation = Perturbation("shuffle", 1.0, rows=rows)
    predicted = CompactProbe(trained).predict_perturbed(rows_of_test(), perturbation, 0)
    assert np.array_equal(predicted, trained.predict(rows_of_test()).values)
