"""What predictions of a trained network depend on, also under probes."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from npt.compact import model
from npt.compact.learner import CompactLearner
from npt.compact.probe import CompactProbe
from npt.compact.trained import TrainedCompactNPT
from npt.interface import Resources
from npt.perturbation import ColumnChoice, Perturbation
from npt.table import TASKS, Table, Task
from tests.conftest import first_split
from tests.npt.compact.tables import (
    CPU,
    SEED,
    TINY,
    fitted,
    mixed_table,
    small_compact,
    started,
)

EXACT = {"rtol": 0, "atol": 1e-12}


@cache
def trained_on(task: Task) -> TrainedCompactNPT:
    """One network for each task, which no test changes."""
    return fitted(TINY.changed(learning_rate=0.03), mixed_table(task))


def rows_of_test(task: Task = "regression") -> np.ndarray:
    return first_split(mixed_table(task)).test


@pytest.mark.parametrize("task", TASKS)
def test_neither_order_nor_other_queries_change_a_prediction(task: Task) -> None:
    trained = trained_on(task)
    rows = rows_of_test(task)
    together = trained.predict(rows).values
    alone = np.concatenate([trained.predict(rows[[i]]).values for i in range(len(rows))])
    assert np.allclose(together, alone, **EXACT)
    turned = replace(trained, context_rows=trained.context_rows[::-1].copy())
    assert np.allclose(turned.predict(rows[::-1]).values, together[::-1], **EXACT)
    assert len(np.unique(together.round(6), axis=0)) > 2


@pytest.mark.parametrize("cells", [1, 1000, 2**30])
def test_chunks_do_not_matter(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = trained_on("regression")
    rows = rows_of_test()
    expected = trained.predict(rows).values
    monkeypatch.setattr(model, "PREDICTED_CELLS", cells)
    assert np.allclose(trained.predict(rows).values, expected, **EXACT)


def test_probabilities_are_the_mean_of_those_of_the_members() -> None:
    trained = trained_on("multiclass")
    rows = rows_of_test("multiclass")
    odds = np.exp(trained.outputs(trained.features(trained.table, rows)).numpy())
    expected = (odds / odds.sum(-1, keepdims=True)).mean(0)
    assert np.allclose(trained.predict(rows).values, expected)


def test_the_context_is_a_bounded_random_part_of_the_train_rows() -> None:
    table = mixed_table(rows=120)
    split = first_split(table)
    hidden = split.train[:10]
    contexts = []
    for limit, seed in ((20, 1), (20, 2), (None, 1), (1000, 1)):
        trained = TrainedCompactNPT.untrained(
            TINY.changed(context_rows=limit), CPU, table.hide(hidden, 0), split, seed
        )
        contexts.append(trained.context_rows.tolist())
    known = split.train[10:].tolist()
    assert contexts[0] != contexts[1]
    for context in contexts[:2]:
        assert len(set(context)) == 20
        assert set(context) <= set(known)
    assert contexts[2:] == [known, known]


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


@pytest.mark.parametrize("lookup", ["off", "original"])
def test_losses_of_members_are_those_in_the_predicting_context(lookup: str) -> None:
    settings = TINY.changed(context_rows=20, updates=5, copies=False, lookup=lookup)
    table = mixed_table()
    rows = first_split(table).validation
    ((_, trained),) = fitted(settings, table).in_contexts(rows)
    errors = trained.outputs(trained.features(table, rows)) - trained.encoder.labels(table, rows)
    expected = errors.square().mean((1, 2)).tolist()
    assert started(settings, table).run().losses.tolist() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("rows", ["test", "validation"])
def test_perturbed_rows_that_none_attends_to_change_nothing(rows: Any) -> None:
    trained = trained_on("regression")
    perturbation = Perturbation("shuffle", 1.0, rows=rows)
    predicted = CompactProbe(trained).predict_perturbed(rows_of_test(), perturbation, 0)
    assert np.array_equal(predicted, trained.predict(rows_of_test()).values)


ROWS = 4


def with_cells_from(trained: TrainedCompactNPT, sources: np.ndarray) -> TrainedCompactNPT:
    """The network on a table whose context has cells from other rows of it."""
    table: Table = trained.table
    context = trained.context_rows
    for j in range(len(table.columns)):
        numbers = table.numbers(j)
        numbers[context] = table.numbers(j)[context[sources[:, j]]]
        table = table.with_numbers(j, numbers)
    return replace(trained, table=table)


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_deleted_rows_were_never_in_the_context(task: Task) -> None:
    trained, _, split = small_compact(task)
    rows = split.test[:ROWS]
    (group,) = CompactProbe(trained).query_groups(rows)
    generator = np.random.default_rng(0)
    count = len(trained.context_rows)
    kept = [np.sort(generator.permutation(count)[:size]) for size in (1, 5, count)]
    predictions = group.predict([2, 0, 1], kept)
    expected = []
    for query, remaining in zip([2, 0, 1], kept, strict=True):
        assert np.array_equal(group.contexts[query], trained.context_rows)
        never_there = replace(trained, context_rows=trained.context_rows[remaining])
        expected.append(never_there.predict(rows[[query]]).values[0])
    assert predictions == pytest.approx(np.stack(expected), rel=1e-9)
    whole = trained.predict(rows).values
    assert predictions[2] == pytest.approx(whole[1], rel=1e-9)
    assert abs(predictions[0] - whole[2]).max() > 1e-4


def test_groups_hold_every_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trained, _, split = small_compact("regression")
    monkeypatch.setattr(model.Context, "chunk_size", 3)
    rows = split.test[:7]
    groups = list(CompactProbe(trained).query_groups(rows))
    assert [len(group.rows) for group in groups] == [3, 3, 1]
    assert np.concatenate([group.rows for group in groups]).tolist() == rows.tolist()
    attended = [attention.row for attention in CompactProbe(trained).attention(rows)]
    assert attended == rows.tolist()
    for control in (Perturbation("delete", 0.0), Perturbation("shuffle", 0.0)):
        perturbed = CompactProbe(trained).predict_perturbed(rows, control, 0)
        assert perturbed == pytest.approx(trained.predict(rows).values, rel=1e-9)


@pytest.mark.parametrize("task", ["regression", "multiclass"])
@pytest.mark.parametrize("columns", ["all", "features", "target"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_cells_come_from_a_permuted_table(task: Task, columns: ColumnChoice, share: float) -> None:
    trained, _, split = small_compact(task)
    rows = split.test[:ROWS]
    perturbation = Perturbation("shuffle", share, columns)
    predictions = CompactProbe(trained).predict_perturbed(rows, perturbation, 5)
    (group,) = CompactProbe(trained).query_groups(rows)
    for place, row in enumerate(rows.tolist()):
        sources = perturbation.sources(5, row, group.layout(place))[1:] - 1
        expected = with_cells_from(trained, sources).predict(rows[[place]]).values
        assert predictions[[place]] == pytest.approx(expected, abs=1e-4)
    assert abs(predictions - trained.predict(rows).values).max() > 1e-3


def test_heads_of_the_members_follow_each_other() -> None:
    trained, _, split = small_compact("regression")
    heads = trained.settings.heads
    (before,) = CompactProbe(trained).attention(split.test[:1])
    assert np.array_equal(before.context, trained.context_rows)
    assert list(before.weights) == [1, 2]
    for weights in before.weights.values():
        assert weights.shape == (2 * heads, len(before.context))
        assert weights.sum(1) == pytest.approx(np.ones(2 * heads))
    changed = replace(trained)
    with torch.no_grad():
        changed.precise.between_datapoints[0].sharpness[1] += 1.0
    (after,) = CompactProbe(changed).attention(split.test[:1])
    has_changed = abs(after.weights[1] - before.weights[1]).max(1) > 1e-6
    assert has_changed.tolist() == [False] * heads + [True] * heads


def test_no_weights_without_attention_between_datapoints() -> None:
    trained, _, split = small_compact("regression", between_datapoints=False)
    (attention,) = CompactProbe(trained).attention(split.test[:1])
    assert attention.weights == {}


def test_the_initial_network_is_the_untrained_one() -> None:
    trained, table, split = small_compact("regression")
    untrained = TrainedCompactNPT.untrained(
        trained.settings, CPU, table.blind(split.test), split, trained.seed
    )
    initial = CompactProbe(trained).before_training().predict(split.test)
    assert np.array_equal(initial, untrained.predict(split.test).values)
    assert not np.allclose(initial, trained.predict(split.test).values)
