"""A compact NPT under probes: predictions in reduced and perturbed contexts, and attention."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from npt.compact.probe import CompactProbe
from npt.compact.trained import TrainedCompactNPT
from npt.interface import Resources
from npt.perturbation import ColumnChoice, Perturbation
from npt.table import Table, Task
from tests.npt.compact.tables import context_sources, small_compact

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
    monkeypatch.setattr("npt.compact.trained.chunk_size", lambda context: 3)
    rows = split.test[:7]
    groups = list(CompactProbe(trained).query_groups(rows))
    assert [len(group.rows) for group in groups] == [3, 3, 1]
    assert np.concatenate([group.rows for group in groups]).tolist() == rows.tolist()
    attended = [attention.row for attention in CompactProbe(trained).attention(rows)]
    assert attended == rows.tolist()
    perturbed = CompactProbe(trained).predict_perturbed(rows, Perturbation("delete", 0.0), 0)
    assert perturbed == pytest.approx(trained.predict(rows).values, rel=1e-9)


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_the_identity_permutation_changes_no_prediction(task: Task) -> None:
    trained, _, split = small_compact(task)
    identity = CompactProbe(trained).predict_perturbed(split.test, Perturbation("shuffle", 0.0), 0)
    assert identity == pytest.approx(trained.predict(split.test).values, abs=1e-5)


@pytest.mark.parametrize("task", ["regression", "multiclass"])
@pytest.mark.parametrize("columns", ["all", "features", "target"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_permuted_cells_are_those_of_a_permuted_table(
    task: Task, columns: ColumnChoice, share: float
) -> None:
    trained, _, split = small_compact(task)
    rows = split.test[:ROWS]
    perturbation = Perturbation("shuffle", share, columns)
    predictions = CompactProbe(trained).predict_perturbed(rows, perturbation, 5)
    for place, row in enumerate(rows.tolist()):
        sources = context_sources(trained, perturbation, 5, row)
        expected = with_cells_from(trained, sources).predict(rows[[place]]).values
        assert predictions[[place]] == pytest.approx(expected, abs=1e-4)
    assert abs(predictions - trained.predict(rows).values).max() > 1e-3


@pytest.mark.parametrize(
    ("changes", "columns"),
    [({"labels_of_others": False}, "target"), ({"between_datapoints": False}, "all")],
)
def test_a_blind_twin_does_not_depend_on_what_it_cannot_see(
    changes: dict[str, Any], columns: ColumnChoice
) -> None:
    blind, _, split = small_compact("regression", **changes)
    permuted = CompactProbe(blind).predict_perturbed(
        split.test, Perturbation("shuffle", 1.0, columns), 0
    )
    assert permuted == pytest.approx(blind.predict(split.test).values, abs=1e-5)


def test_heads_of_the_members_follow_each_other() -> None:
    trained, _, split = small_compact("regression")
    rows = split.test[:ROWS]
    settings = trained.settings
    before = list(CompactProbe(trained).attention(rows))
    assert [attention.row for attention in before] == rows.tolist()
    layers = [1 + index for index in range(settings.layers)]
    for attention in before:
        assert np.array_equal(attention.context, trained.context_rows)
        assert list(attention.weights) == layers
        for weights in attention.weights.values():
            assert weights.shape == (settings.members * settings.heads, len(trained.context_rows))
            assert weights.sum(1) == pytest.approx(np.ones(len(weights)))
    changed = replace(trained)
    with torch.no_grad():
        changed.precise.between_datapoints[0].sharpness[1] += 1.0
    (after, *_) = CompactProbe(changed).attention(rows)
    first = layers[0]
    has_changed = abs(after.weights[first] - before[0].weights[first]).max(1) > 1e-6
    assert has_changed.tolist() == [False] * settings.heads + [True] * settings.heads


def test_no_weights_without_attention_between_datapoints() -> None:
    trained, _, split = small_compact("regression", between_datapoints=False)
    assert [attention.weights for attention in CompactProbe(trained).attention(split.test[:2])] == [
        {},
        {},
    ]


def test_the_initial_network_is_the_untrained_one() -> None:
    trained, table, split = small_compact("regression")
    untrained = TrainedCompactNPT.untrained(
        trained.settings, Resources(), table.blind(split.test), split, trained.seed
    )
    initial = CompactProbe(trained).before_training().predict(split.test)
    assert np.array_equal(initial, untrained.predict(split.test).values)
    assert not np.allclose(initial, trained.predict(split.test).values)
