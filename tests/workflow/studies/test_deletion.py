"""Data deletion: the batched search is Algorithm 2, and finds the rows that a prediction is made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from npt.data.encoding import one_hot_features
from npt.interface import Resources, UserError
from npt.nn.inputs import ModelInput
from npt.nn.learner import NPTLearner
from npt.nn.trained import TrainedNPT
from npt.nn.masking import mask
from npt.table import Task
from tests.conftest import SMALL_NPT, first_split, make_table
from workflow.studies.deletion.probe import Deletion, deletions, distances
from workflow.studies.options import DeletionOptions

OPTIONS = DeletionOptions(tolerance=0.002, limit=0.02, retries=4)


def trained(task: Task, **changes: object) -> tuple[TrainedNPT, np.ndarray]:
    table = make_table(task)
    split = first_split(table)
    learner = NPTLearner(replace(SMALL_NPT, **changes), Resources())  # type: ignore[arg-type]
    learner.fit(table.blind(split.test), split, 0)
    learner = learner.trained
    with torch.no_grad():
        for parameter in learner.model.parameters():
            parameter *= 2  # so that it minds its company more than after ten updates
    return learner, split.test


@torch.no_grad()
def plain(
    learner: TrainedNPT, row: int, options: DeletionOptions, seed: int
) -> tuple[set[int], int]:
    """Algorithm 2, one forward pass of one table at a time; the rows that are left and the number of passes."""
    cells = mask(learner.data, "test", learner.settings, torch.Generator()).cells
    draws, scale = np.random.default_rng((seed, row)), learner.statistics.scale[learner.data.target]

    def predict(others: list[int]) -> np.ndarray:
        rows = [row, *others]
        few = ModelInput(*(x[:, rows] for x in (cells.codes, cells.scale, cells.mask)))
        return learner.decode(learner.model.predict_target(few)[:, 0]).values[0]

    left = [i for i in range(cells.codes.shape[1]) if i != row]
    n, original = len(left) + 1, predict(left)
    tolerance, refusals, passes = options.tolerance, 0, 0
    while len(left) >= 2 and len(left) >= options.left * n:
        c = int(draws.integers(len(left)))
        fewer = left[:c] + left[c + 1 :]
        answer, passes = predict(fewer), passes + 1
        if learner.task == "regression":
            change = abs(answer - original) / max(abs(original), 0.01 * scale)
        else:
            change = np.abs(answer - original).sum() / 2
        if change < tolerance:
            if change >= options.limit:
                break
            left, refusals = fewer, 0
        else:
            refusals += 1
            if refusals >= options.retries:
                tolerance, refusals = tolerance * options.growth, 0
    return set(left), passes


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_searches_side_by_side_equal_one_at_a_time(task: Task) -> None:
    learner, rows = trained(task)
    found = deletions(learner, rows[:6], OPTIONS, 5)
    assert [one.row for one in found] == rows[:6].tolist()
    for one in found:
        left, passes = plain(learner, one.row, OPTIONS, 5)
        assert set(one.context[one.kept].tolist()) == left
        assert one.passes == passes
        assert 0 <= one.change < OPTIONS.limit
    assert len({one.kept.sum() for one in found}) > 1


def test_a_model_that_looks_at_no_row_spares_them_all() -> None:
    learner, rows = trained("regression", between_datapoints=False)
    for one in deletions(learner, rows[:3], DeletionOptions(left=0.1), 0):
        assert one.kept.sum() == 5  # the first number below a tenth of 60
        assert one.passes == 54
        assert one.change == 0


def test_batches_of_a_table_are_searched_within_themselves() -> None:
    learner, rows = trained("regression", batch_rows=20)
    for one in deletions(learner, rows[:4], replace(OPTIONS, left=0.5), 0):
        assert len(one.context) == 19
        assert one.row not in one.context


def test_distances_of_what_is_kept_deleted_and_drawn() -> None:
    features = np.arange(6.0)[:, None]
    kept, deleted, random = distances(
        features, Deletion(2, np.array([0, 1, 3, 4, 5]), np.array([0, 1, 1, 0, 0], bool), 0.0, 9), 0
    )
    assert kept == 1
    assert deleted == pytest.approx((4 + 4 + 9) / 3)
    assert 1 <= random <= 9
    alone = distances(features, Deletion(2, np.array([0, 1]), np.array([1, 1], bool), 0.0, 9), 0)
    assert alone[0] == alone[2] == 2.5
    assert np.isnan(alone[1])


def test_a_lookup_model_needs_the_duplicate() -> None:
    """The positive control: with the target on a duplicate, that is what the search leaves."""
    from tests.workflow.studies.test_lookup import SETTINGS, unrelated

    table, split = unrelated()
    learner = NPTLearner(SETTINGS, Resources())
    learner.fit(table.blind(split.test), split, 0)
    learner = learner.trained
    learner = learner.with_table(
        table, split
    )  # the whole table: duplicates of test rows show their targets
    predicted = learner.predict(split.test).values
    clear = np.abs(predicted) > 0.5
    rows = split.test[clear][:8]
    found = deletions(learner, rows, DeletionOptions(retries=5, left=0.1), 0)
    partners = [bool(one.kept[one.context == table.rows + one.row].all()) for one in found]
    assert sum(partners) >= 6
    chance = np.mean([one.kept.mean() for one in found])
    assert chance < 0.6
    features = one_hot_features(table, learner.statistics)
    measured = np.array([distances(features, one, 0) for one in found])
    assert measured[:, 0].mean() < measured[:, 2].mean()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"tolerance": 0.2}, "tolerance: 0.2"),
        ({"growth": 1.0}, "growth: 1.0"),
        ({"left": 1.0}, "left: 1.0"),
        ({"retries": 0}, "retries 0"),
    ],
)
def test_constants_that_would_never_end_are_refused(changes: dict[str, float], text: str) -> None:
    with pytest.raises(UserError, match=text):
        DeletionOptions(**changes)  # type: ignore[arg-type]
