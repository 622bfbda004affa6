"""Weights of the members: a plain mean, or a greedy selection."""

from __future__ import annotations

import numpy as np
import pytest

from npt.compact.ensemble import combined, greedy_weights, kind_weights, loss
from npt.compact.selection import weighted_by_validation
from npt.table import Task
from tests.conftest import first_split
from tests.npt.compact.tables import TINY, fitted, mixed_table


def test_greedy_weights_balance_opposite_errors() -> None:
    """Errors 2 and -1 cancel in the ratio 1 to 2: the picks are 1, 0, 1, and again."""
    truth = np.array([5.0, 7.0])
    members = np.stack([truth + 2, truth - 1, truth + 30])
    weights = greedy_weights("regression", truth, members)
    assert weights.tolist() == pytest.approx([1 / 3, 2 / 3, 0])
    assert loss("regression", truth, combined(members, weights)) == pytest.approx(0)


def test_greedy_weights_of_classes_follow_the_likelihood() -> None:
    truth = np.array([0.0, 1.0])
    right = np.array([[0.9, 0.1], [0.1, 0.9]])
    wrong = right[:, ::-1]
    undecided = np.full((2, 2), 0.5)
    members = np.stack([undecided, right, wrong])
    assert greedy_weights("binary", truth, members).tolist() == [0, 1, 0]


def test_kinds_that_are_best_together_have_equal_weights() -> None:
    """Members 0 and 3 are of the first kind, 1 and 4 of the second, 2 of the third."""
    truth = np.array([1.0, 2.0, 3.0])
    members = truth + np.array([[2.0], [-1.0], [9.0], [0.0], [-1.0]])
    weights = kind_weights("regression", truth, members, 3)
    assert weights.tolist() == [0.25, 0.25, 0, 0.25, 0.25]
    alone = truth + np.array([[2.0], [0.5], [9.0], [2.0], [-0.5]])
    assert kind_weights("regression", truth, alone, 3).tolist() == [0, 0.5, 0, 0, 0.5]


def test_of_equal_losses_more_kinds_win() -> None:
    truth = np.zeros(2)
    members = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    assert kind_weights("regression", truth, np.stack([members[0]] * 3), 3).tolist() == [1 / 3] * 3
    assert kind_weights("regression", truth, members[:1], 1).tolist() == [1]


def test_losses_are_squared_error_and_likelihood() -> None:
    assert loss("regression", np.array([1.0, 2.0]), np.array([2.0, 5.0])) == pytest.approx(5)
    probabilities = np.array([[0.5, 0.5], [0.8, 0.2]])
    expected = -(np.log(0.5) + np.log(0.2)) / 2
    assert loss("binary", np.array([0.0, 1.0]), probabilities) == pytest.approx(expected)


def test_members_are_combined_by_their_weights() -> None:
    members = np.array([[[0.2, 0.8]], [[0.6, 0.4]]])
    mean = combined(members, np.array([0.25, 0.75]))
    assert mean.tolist() == [pytest.approx([0.5, 0.5])]


@pytest.mark.parametrize("task", ["regression", "multiclass"])
@pytest.mark.parametrize("average", ["mean", "kinds", "greedy"])
def test_predictions_are_the_named_average(task: Task, average: str) -> None:
    table = mixed_table(task)
    split = first_split(table)
    blind = table.blind(split.test)
    settings = TINY.changed(average=average, members=3, rate_scale=[1.0, 0.5, 0.01])
    trained = fitted(settings, table, split)
    members = trained.of_members(trained.outputs(trained.encoder.encode(blind, split.test)))
    expected = members.mean(0)
    validation = trained.of_members(
        trained.outputs(trained.encoder.encode(blind, split.validation))
    )
    truth = table.truth[split.validation]
    if average != "mean":
        weights = greedy_weights(task, truth, validation)
        if average == "kinds":
            weights = kind_weights(task, truth, validation, 3)
        assert len(set(weights)) > 1
        expected = np.tensordot(weights, members, 1)
    assert np.allclose(trained.predict(split.test).values, expected, atol=1e-12)
    again, validation_loss = weighted_by_validation(trained, split.validation)
    average_loss = loss(task, truth, combined(validation, again.weights))
    if task == "regression":
        average_loss /= table.truth[split.train].var()
    assert validation_loss == pytest.approx(average_loss, rel=1e-9)
