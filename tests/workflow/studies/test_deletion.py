"""Data deletion: the parallel search is Algorithm 2 and finds the rows that a prediction needs."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from npt.compact.probe import CompactProbe
from npt.data.encoding import one_hot_features
from npt.nn.inputs import ModelInput
from npt.nn.masking import mask
from npt.nn.probe import NPTProbe
from npt.nn.trained import TrainedNPT
from npt.nn.trained_network import decoded
from npt.table import Task
from tests.npt.compact.tables import small_compact
from tests.workflow.studies.models import lookup_npt, small_npt
from workflow.studies import kinds
from workflow.studies.deletion import DeletionOptions
from workflow.studies.deletion.algorithm import Search, deletions
from workflow.studies.deletion.probe import distances
from workflow.studies.query import ProbeQuery

OPTIONS = DeletionOptions(tolerance=0.002, limit=0.02, retries=4)
AT_LIMIT = DeletionOptions(tolerance=0.02, limit=0.02, growth=2.0, retries=1)


def sensitive_npt(task: Task, **changes: Any) -> tuple[TrainedNPT, np.ndarray]:
    """A network with doubled weights, so that its predictions depend on other rows."""
    trained, _, split = copy.deepcopy(small_npt(task, **changes))
    with torch.no_grad():
        for parameter in trained.model.parameters():
            parameter *= 2
    return trained, split.test


@torch.no_grad()
def plain_search(
    trained: TrainedNPT, row: int, options: DeletionOptions, seed: int
) -> tuple[set[int], int]:
    """Algorithm 2 with one table in a forward pass: the rows that are left, and the passes."""
    inputs = mask(trained.data, "test", trained.settings, torch.Generator()).cells
    generator = np.random.default_rng((seed, row))
    scale = trained.statistics.scale[trained.data.target]

    def predict(others: list[int]) -> np.ndarray:
        rows = [row, *others]
        parts = (inputs.codes, inputs.scale, inputs.mask)
        few = ModelInput(*(part[:, rows] for part in parts))
        return decoded(trained, trained.model.predict_target(few)[:, 0])[0]

    left = [i for i in range(inputs.codes.shape[1]) if i != row]
    n = len(left) + 1
    original = predict(left)
    tolerance = options.tolerance
    rejections = passes = 0
    while len(left) >= 2 and len(left) >= options.left * n:
        candidate = int(generator.integers(len(left)))
        fewer = left[:candidate] + left[candidate + 1 :]
        prediction = predict(fewer)
        passes += 1
        if trained.task == "regression":
            change = abs(prediction - original) / max(abs(original), 0.01 * scale)
        else:
            change = np.abs(prediction - original).sum() / 2
        if change < tolerance:
            if change >= options.limit:
                break
            left = fewer
            rejections = 0
        else:
            rejections += 1
            if rejections >= options.retries:
                tolerance *= options.growth
                rejections = 0
    return set(left), passes


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_parallel_searches_equal_one_at_a_time(task: Task) -> None:
    trained, rows = sensitive_npt(task)
    results = deletions(NPTProbe(trained), rows[:2], OPTIONS, 5)
    assert [result.row for result in results] == rows[:2].tolist()
    for result in results:
        left, passes = plain_search(trained, result.row, OPTIONS, 5)
        assert set(result.context[result.kept].tolist()) == left
        assert result.passes == passes
        assert 0 <= result.change < OPTIONS.limit
    assert len({result.kept.sum() for result in results}) > 1


def test_a_prediction_of_zero_is_divided_by_the_floor() -> None:
    trained, rows = sensitive_npt("regression")
    (prediction,) = trained.predict(rows[:1]).values
    centre = trained.statistics.centre.copy()
    centre[trained.data.target] -= prediction
    at_zero = replace(trained, statistics=replace(trained.statistics, centre=centre))
    (result,) = deletions(NPTProbe(at_zero), rows[:1], OPTIONS, 5)
    left, passes = plain_search(at_zero, rows[0], OPTIONS, 5)
    assert set(result.context[result.kept].tolist()) == left
    assert result.passes == passes


def test_a_model_without_row_attention_spares_all_rows() -> None:
    trained, rows = sensitive_npt("regression", between_datapoints=False)
    for result in deletions(NPTProbe(trained), rows[:3], DeletionOptions(left=0.22), 0):
        assert result.kept.sum() == 13  # the first number below 0.22 * 60 = 13.2
        assert result.passes == 46
        assert result.change == 0


def test_the_context_is_the_batch_of_the_query() -> None:
    trained, rows = sensitive_npt("regression", batch_rows=20)
    options = OPTIONS.model_copy(update={"left": 0.5})
    for result in deletions(NPTProbe(trained), rows[:4], options, 0):
        assert len(result.context) == 19
        assert result.row not in result.context


def test_a_compact_npt_needs_no_more_rows_than_it_keeps() -> None:
    trained, table, split = small_compact("binary")
    rows = split.test[:3]
    kind = kinds()["deletion"]
    query = ProbeQuery(CompactProbe(trained), table, split, rows, 0, kind.options(retries=5))
    facts, arrays = kind.probe(query)
    assert facts["context_rows"] == len(trained.context_rows)
    assert facts["partner_kept"] is None
    assert np.array_equal(arrays["context"], np.tile(trained.context_rows, len(rows)))
    whole = trained.predict(rows).values
    kept = arrays["kept"].reshape(len(rows), -1)
    for place, remaining in enumerate(kept):
        reduced = replace(trained, context_rows=trained.context_rows[remaining])
        prediction = reduced.predict(rows[[place]]).values[0]
        assert abs(prediction - whole[place]).sum() / 2 < query.options.limit
    assert 0 < kept.sum() < kept.size


@pytest.mark.parametrize(
    ("options", "changes", "left", "is_done"),
    [
        (OPTIONS, [float("nan")], 9, True),
        (OPTIONS, [0.0021] * 4, 9, False),
        (OPTIONS, [0.0021] * 5, 8, False),  # the tolerance has grown
        (OPTIONS, [0.003] * 4 + [0.1], 9, False),
        (AT_LIMIT, [0.03], 9, False),  # rejected by the tolerance, which doubles
        (AT_LIMIT, [0.03, 0.03], 9, True),
    ],
)
def test_changes_are_judged(
    options: DeletionOptions, changes: list[float], left: int, is_done: bool
) -> None:
    search = Search(7, np.arange(9), options, 0)
    for change in changes:
        search.propose()
        search.judge(change)
    assert (len(search.left), search.done) == (left, is_done)


def test_facts_of_the_probe_are_those_of_its_searches() -> None:
    trained, table, split = lookup_npt(60, updates=1)
    rows = split.test[:4]
    kind = kinds()["deletion"]
    options = kind.options(left=0.5)
    facts, _ = kind.probe(ProbeQuery(NPTProbe(trained), table, split, rows, 0, options))
    results = deletions(NPTProbe(trained), rows, options, 0)
    features = one_hot_features(table, trained.statistics)
    measured = np.array([distances(features, result, 0) for result in results])
    for name, column in zip(("kept", "deleted", "random"), measured.T, strict=True):
        assert facts["distances"][name] == pytest.approx(column, rel=1e-4)
    assert facts["left_share"] == pytest.approx(np.mean([r.kept.mean() for r in results]))
    partners = [r.kept[r.context == table.rows + r.row].item() for r in results]
    assert facts["partner_kept"] == np.mean(partners)


def test_distances_to_kept_deleted_and_random_rows() -> None:
    features = np.arange(6.0)[:, None]
    search = Search(2, np.array([0, 1, 3, 4, 5]), OPTIONS, 0)
    search.left = np.array([1, 2])
    kept, deleted, random = distances(features, search, 0)
    assert kept == 1
    assert deleted == pytest.approx((4 + 4 + 9) / 3)
    assert random in (1, 2.5, 4, 5, 6.5)  # the mean of two rows, as many as are kept
    kept, deleted, random = distances(features, Search(2, np.array([0, 1]), OPTIONS, 0), 0)
    assert kept == random == 2.5
    assert np.isnan(deleted)
