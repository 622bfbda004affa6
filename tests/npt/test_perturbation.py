"""Perturbations: what moves, what stays, and that many copies at once equal one at a time."""

from typing import Any

import numpy as np
import pytest
import torch

from baselines import methods
from baselines.grids import BaselineSettings
from baselines.probe import StoredRowProbe
from npt.interface import Resources
from npt.nn.batches import partition
from npt.nn.inputs import ModelInput
from npt.nn.masking import mask
from npt.nn.probe import NPTProbe
from npt.nn.trained import CPU_CELLS, TrainedNPT
from npt.nn.trained_network import decoded
from npt.perturbation import ColumnChoice, InputLayout, Perturbation, RowChoice
from npt.seeding import generator_for
from npt.table import PARTS, Task
from tests.conftest import first_split, make_table
from tests.workflow.studies.models import small_npt

INTACT, SHUFFLED = Perturbation("shuffle", 0.0), Perturbation("shuffle", 1.0)
PERTURBED = [
    SHUFFLED,
    Perturbation("shuffle", 0.4),
    Perturbation("delete", 0.5),
    Perturbation("delete", 0.99),
    Perturbation("shuffle", 1.0, columns="features", draw=3),
    Perturbation("shuffle", 0.5, columns="target", rows="train"),
]


def layout(rows: int, columns: int, target: int = 0) -> InputLayout:
    """Rows of the three parts in turn."""
    return InputLayout(np.arange(rows) % 3, columns, target)


@torch.no_grad()
def plain_loop(
    learner: TrainedNPT, rows: np.ndarray, perturbation: Perturbation, seed: int
) -> np.ndarray:
    """Algorithm 1 as it is printed: a table a row, cell by cell, one full forward pass for each."""
    outputs = {}
    draws = generator_for(learner.seed, "evaluation", torch.device("cpu"))
    for batch in partition(learner.data, "test", learner.settings, draws):
        cells = mask(learner.data.take(batch), "test", learner.settings, draws).cells
        d = cells.codes.shape[2]
        for query, row in enumerate(batch.tolist()):
            if row not in rows:
                continue
            order = np.concatenate([[query], np.delete(np.arange(len(batch)), query)])
            inputs = InputLayout(learner.data.part[batch].numpy()[order], d, learner.data.target)
            sources = order[perturbation.sources(seed, row, inputs)]
            sources = np.broadcast_to(sources, (len(sources), d))
            parts = []
            for tensor in (cells.codes, cells.scale, cells.mask):
                perturbed = torch.zeros(1, len(sources), d, dtype=tensor.dtype)
                for i, j in np.ndindex(sources.shape):
                    perturbed[0, i, j] = tensor[0, sources[i, j], j]
                parts.append(perturbed)
            outputs[row] = learner.model.predict_target(ModelInput(*parts))[0, 0]
    return decoded(learner, torch.stack([outputs[row] for row in rows.tolist()]))


@pytest.mark.parametrize("perturbation", [INTACT, *PERTURBED], ids=str)
@pytest.mark.parametrize(("changes", "cells"), [({}, CPU_CELLS), ({"batch_rows": 20}, 1)])
def test_many_copies_at_once_equal_the_plain_loop(
    changes: dict[str, int], cells: int, perturbation: Perturbation, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, _, split = small_npt("multiclass", **changes)
    monkeypatch.setattr("npt.nn.trained.CPU_CELLS", cells)
    together = NPTProbe(learner).predict_perturbed(split.test, perturbation, 3)
    assert np.allclose(together, plain_loop(learner, split.test, perturbation, 3), atol=2e-6)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_control_changes_nothing_and_corruption_does(task: Task) -> None:
    learner, _, split = small_npt(task)
    clean = learner.predict(split.test).values
    for perturbation in (INTACT, *PERTURBED):
        values = NPTProbe(learner).predict_perturbed(split.test, perturbation, 0)
        assert np.allclose(values, clean, atol=1e-5) == (perturbation is INTACT)


def test_rows_of_two_parts_are_predicted_each_in_its_mode() -> None:
    learner, _, split = small_npt("multiclass", target_mask=0.5)
    parts = (split.validation, split.test)
    apart = [learner.predict(rows).values for rows in parts]
    together = learner.predict(np.concatenate(parts)).values
    assert np.allclose(together, np.concatenate(apart), atol=1e-6)


def test_without_datapoint_attention_nothing_changes() -> None:
    learner, _, split = small_npt("multiclass", between_datapoints=False)
    control = NPTProbe(learner).predict_perturbed(split.test, INTACT, 0)
    for perturbation in PERTURBED:
        values = NPTProbe(learner).predict_perturbed(split.test, perturbation, 0)
        assert np.array_equal(values, control)


def test_without_cells_that_differ_predictions_are_the_same_bits() -> None:
    learner, _, split = small_npt("multiclass")
    probe = NPTProbe(learner)
    hidden = Perturbation("shuffle", 1.0, columns="target", rows="test")
    perturbed = probe.predict_perturbed(split.test, hidden, 0)
    assert np.array_equal(perturbed, probe.predict(split.test))


def test_default_draws_stay_as_they_are() -> None:
    """The committed results rest on these draws."""
    n, d = 40, 4
    others = np.arange(1, n)
    for share in (0.0, 0.4, 1.0):
        generator = np.random.default_rng((2, 9))
        chosen = generator.permutation(n - 1)[: round(share * (n - 1))]
        permutations = generator.random((n - 1, d))[: len(chosen)].argsort(0)
        expected = np.repeat(others[:, None], d, axis=1)
        expected[chosen] = others[chosen[permutations]]
        sources = Perturbation("shuffle", share).sources(2, 9, layout(n, d))
        assert np.array_equal(sources[1:], expected)


@pytest.mark.parametrize("rows", ["all", "train", "validation", "test"])
@pytest.mark.parametrize("columns", ["all", "features", "target"])
def test_only_the_chosen_cells_move(columns: ColumnChoice, rows: RowChoice) -> None:
    n, d, target = 60, 4, 2
    inputs = layout(n, d, target)
    sources = Perturbation("shuffle", 1.0, columns, rows).sources(1, 4, inputs)
    assert (sources[0] == 0).all()
    others = np.arange(1, n)
    for j in range(d):
        has_column = columns in ("all", "target" if j == target else "features")
        has_row = np.array([rows in ("all", PARTS[part]) for part in inputs.parts[1:]])
        chosen = has_row & has_column
        assert np.array_equal(sources[1:, j][~chosen], others[~chosen])
        assert np.array_equal(np.sort(sources[1:, j][chosen]), others[chosen])
        assert chosen.any() == has_column
        assert not has_column or np.mean(sources[1:, j][chosen] != others[chosen]) > 0.8


def test_deletion_is_of_the_chosen_rows_alone() -> None:
    inputs = layout(60, 4)
    sources = Perturbation("delete", 1.0, rows="train").sources(1, 4, inputs)
    assert sources[:, 0].tolist() == [0, *np.flatnonzero(inputs.parts)]


def test_duplicates_belong_to_the_part_of_their_original() -> None:
    changes = {"lookup": "original", "target_mask": 1.0, "batch_rows": 20}
    learner, _, split = small_npt("regression", **changes)
    parts = learner.data.part.numpy()
    for group in NPTProbe(learner).query_groups(split.test):
        for query, context in enumerate(group.contexts):
            numbers = np.append(group.rows[query], context) % len(parts)
            assert np.array_equal(group.layout(query).parts, parts[numbers])


def test_some_queries_of_a_group_are_predicted_as_among_all() -> None:
    learner, _, split = small_npt("regression")
    (group,) = NPTProbe(learner).query_groups(split.test)
    kept = [np.arange(5 + query) for query in range(len(group.rows))]
    every = group.predict(range(len(kept)), kept)
    assert np.allclose(group.predict([3, 1], [kept[3], kept[1]]), every[[3, 1]], atol=1e-6)


def test_knn_depends_on_train_rows_alone() -> None:
    table = make_table("regression", 100)
    split = first_split(table)
    settings = BaselineSettings(grid={"n_neighbors": [3], "weights": ["uniform"]})
    learner: Any = methods()["knn"].build(settings, Resources())
    learner.fit(table.blind(split.test), split, 0)
    probe = StoredRowProbe(learner.trained)
    for rows in ("all", "train", "validation", "test"):
        perturbation = Perturbation("shuffle", 1.0, rows=rows)
        predicted = probe.predict_perturbed(split.test, perturbation, 0)
        is_same = np.array_equal(predicted, probe.predict(split.test))
        assert is_same == (rows in ("validation", "test"))


def test_doses_are_nested_and_drawn_by_row_seed_and_number() -> None:
    def sources(kind: Any, share: float, seed: int = 1, row: int = 4, draw: int = 0) -> np.ndarray:
        return Perturbation(kind, share, draw=draw).sources(seed, row, layout(50, 3))

    few, many = (sources("delete", share)[:, 0] for share in (0.2, 0.8))
    assert set(many) <= set(few)
    assert (few[0], len(few)) == (0, 50 - 10)
    assert (many[0], len(many)) == (0, 50 - 39)
    assert len(sources("delete", 0.999)) == 2
    changed = sources("shuffle", 0.8)[1:] != np.arange(1, 50)[:, None]
    changed_by_less = sources("shuffle", 0.2)[1:] != np.arange(1, 50)[:, None]
    assert not (changed_by_less & ~changed.any(1, keepdims=True)).any()
    for other in ({"row": 5}, {"seed": 2}, {"draw": 1}):
        assert (sources("shuffle", 0.8, **other) != sources("shuffle", 0.8)).mean() > 0.5
