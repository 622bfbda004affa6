"""A trained network: what its predictions depend on, its memory, and its file of weights."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from npt.compact import model
from npt.compact.learner import CompactLearner
from npt.compact.probe import CompactProbe
from npt.compact.settings import CompactSettings
from npt.compact.trained import TrainedCompactNPT
from npt.interface import Resources
from npt.perturbation import Perturbation
from npt.table import TASKS, Split, Table, Task
from tests.conftest import first_split
from tests.npt.compact.tables import (
    SEED,
    TINY,
    consecutive,
    context_sources,
    fitted,
    mixed_table,
    table_of,
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


def test_rows_of_another_table_are_predicted_alike() -> None:
    trained = trained_on("regression")
    rows = rows_of_test()
    table = mixed_table()
    other = Table.of(table.columns, table.values[rows], table.target).blind(np.arange(len(rows)))
    expected = trained.predict(rows).values
    assert np.allclose(trained.predict_table(other).values, expected, **EXACT)


def test_targets_of_predicted_rows_do_not_matter() -> None:
    trained = trained_on("regression")
    table = mixed_table()
    rows = rows_of_test()
    shown = replace(trained, table=table)
    assert not np.isnan(table.truth[rows]).any()
    assert np.array_equal(shown.predict(rows).values, trained.predict(rows).values)


@pytest.mark.parametrize("labels_of_others", [True, False])
def test_labels_of_the_context_matter_unless_they_are_hidden(labels_of_others: bool) -> None:
    trained = fitted(TINY.changed(labels_of_others=labels_of_others))
    truth = trained.table.truth
    truth[trained.context_rows[0]] += 5
    other = replace(trained, table=trained.table.with_numbers(0, truth))
    rows = rows_of_test()
    same = trained.predict(rows).values == other.predict(rows).values
    assert same.any() != labels_of_others


def test_predictions_are_in_units_of_the_target() -> None:
    """Not standardised: the targets are near 1000, with a deviation of 10."""
    table = mixed_table()
    truth = table.truth
    truth = 1000 + 10 * (truth - truth.mean()) / truth.std()
    table = table.with_numbers(0, truth)
    trained = fitted(TINY.changed(updates=60, learning_rate=0.03), table)
    rows = rows_of_test()
    predicted = trained.predict(rows).values
    assert np.sqrt(np.mean((predicted - truth[rows]) ** 2)) < 8


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
        assert all(keys.shape[2] == 20 for keys in trained.context.keys)
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


class Largest(TorchDispatchMode):
    """The number of elements of the largest tensor that an operation returns."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        outputs = func(*args, **(kwargs or {}))
        for output in outputs if isinstance(outputs, (tuple, list)) else (outputs,):
            if isinstance(output, Tensor) and output.storage_offset() == 0:
                storage = output.untyped_storage().nbytes() // output.element_size()
                self.elements = max(self.elements, min(storage, output.numel()))
        return outputs


def largest_tensor(rows: int, settings: CompactSettings) -> int:
    """Of a training and the predictions of all test rows."""
    generator = np.random.default_rng(0)
    table = table_of(generator.normal(size=(rows, 2)), generator.normal(size=rows))
    split = consecutive(rows // 2, rows // 4, rows // 4)
    with Largest() as largest:
        trained = fitted(settings, table, split)
        assert len(trained.predict(split.test).values) == rows // 4
    return largest.elements


def test_memory_is_linear_in_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attention of all rows to all others would grow fourfold."""
    monkeypatch.setattr(model, "PREDICTED_CELLS", 2**12)
    settings = TINY.changed(updates=4, evaluate_every=2, context_rows=64, evaluated_rows=64)
    few = largest_tensor(1000, settings)
    many = largest_tensor(2000, settings)
    assert many <= 2.1 * few
    assert many < 2000**2 / 16


@pytest.mark.parametrize("rows", ["test", "validation"])
def test_perturbed_rows_that_none_attends_to_change_nothing(rows: Any) -> None:
    trained = trained_on("regression")
    perturbation = Perturbation("shuffle", 1.0, rows=rows)
    predicted = CompactProbe(trained).predict_perturbed(rows_of_test(), perturbation, 0)
    assert np.array_equal(predicted, trained.predict(rows_of_test()).values)


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_a_share_of_zero_is_the_control(task: Task) -> None:
    trained = trained_on(task)
    rows = rows_of_test(task)
    control = CompactProbe(trained).predict_perturbed(rows, Perturbation("shuffle", 0.0), 0)
    assert np.allclose(control, trained.predict(rows).values, atol=1e-4)


@pytest.mark.parametrize(
    "perturbation",
    [
        Perturbation("shuffle", 1.0),
        Perturbation("shuffle", 0.5, columns="target"),
        Perturbation("shuffle", 1.0, columns="features", rows="train"),
        Perturbation("delete", 0.7),
    ],
    ids=["all", "target", "features", "delete"],
)
def test_perturbed_contexts_equal_perturbed_tables(perturbation: Perturbation) -> None:
    trained = trained_on("regression")
    rows = rows_of_test()[:4]
    predicted = CompactProbe(trained).predict_perturbed(rows, perturbation, 7)
    cells = trained.table.values
    for place, row in enumerate(rows):
        sources = context_sources(trained, perturbation, 7, int(row))
        others = trained.context_rows[sources]
        moved = np.take_along_axis(cells, others, 0)
        count = len(moved)
        values = np.concatenate([moved, cells[[row]]])
        table = Table.of(trained.table.columns, values, trained.table.target)
        other = replace(trained, table=table, context_rows=np.arange(count))
        assert other.predict(np.array([count])).values == pytest.approx(predicted[place], abs=1e-3)
    original = trained.predict(rows).values
    assert not np.isclose(predicted, original, atol=1e-3).all()


def test_perturbed_predictions_depend_on_row_and_seed_alone() -> None:
    trained = trained_on("regression")
    rows = rows_of_test()[:3]
    perturbation = Perturbation("shuffle", 1.0)
    together = CompactProbe(trained).predict_perturbed(rows, perturbation, 1)
    alone = CompactProbe(trained).predict_perturbed(rows[2:], perturbation, 1)
    assert alone[0] == pytest.approx(together[2], abs=1e-5)
    other = CompactProbe(trained).predict_perturbed(rows, perturbation, 2)
    assert not np.isclose(together, other, atol=1e-5).any()


def place_of(task: Task) -> tuple[Table, Split]:
    table = mixed_table(task)
    split = first_split(table)
    return table.blind(split.test), split


@pytest.mark.parametrize("task", TASKS)
def test_fits_with_the_same_seed_are_the_same(task: Task) -> None:
    rows = rows_of_test(task)
    settings = TINY.changed(updates=5)
    first = fitted(settings, mixed_table(task)).predict(rows).values
    second = fitted(settings, mixed_table(task)).predict(rows).values
    assert np.array_equal(first, second)


def test_a_fit_reports_its_best_updates_and_weights() -> None:
    table, split = place_of("regression")
    learner = CompactLearner(TINY, Resources())
    fit = learner.fit(table, split, SEED)
    assert len(fit.chosen["updates"]) == TINY.members
    assert all(update % 4 == 0 for update in fit.chosen["updates"])
    assert math.isfinite(fit.validation_loss)
    assert fit.parameters == sum(p.numel() for p in learner.trained.model.parameters())
