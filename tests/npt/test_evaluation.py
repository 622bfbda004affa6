from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from npt.evaluation import evaluate
from npt.interface import Fit, Infeasible, Prediction, Trial
from npt.metrics import negative_log_likelihood, score
from npt.table import Split, Table
from tests.conftest import first_split, make_table


class Spy:
    """Predicts the mean of the targets it can see, and remembers the table."""

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        self.table = table
        return Fit({}, 1.0, 1)

    def predict(self, rows: np.ndarray) -> Prediction:
        return Prediction(np.full(len(rows), np.nanmean(self.table.truth)))


class OutOfMemory(Spy):
    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        raise Infeasible("needs\n400 GB")


class Wasteful(Spy):
    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        self.waste = np.ones(100_000_000 // 8) if seed == 0 else None
        del self.waste
        return super().fit(table, split, seed)


class NotANumber(Spy):
    def predict(self, rows: np.ndarray) -> Prediction:
        return Prediction(np.full(len(rows), np.nan))


def test_the_learner_never_sees_a_test_target() -> None:
    table, spy = make_table("regression"), Spy()
    split = first_split(table)
    result = evaluate(spy, table, split, 0)
    assert np.isnan(spy.table.truth[split.test]).all()
    assert not np.isnan(spy.table.truth[split.train]).any()
    assert not np.isnan(table.truth).any()
    seen = np.delete(table.truth, split.test).mean()
    assert result.metrics["test_rmse"] == pytest.approx(
        np.sqrt(np.mean((table.truth[split.test] - seen) ** 2))
    )


def test_infeasible_is_a_result_with_a_reason_and_nan_is_an_error() -> None:
    table = make_table("regression")
    result = evaluate(OutOfMemory(), table, first_split(table), 0)
    assert (result.status, result.reason, result.metrics) == ("failed", "needs 400 GB", {})
    with pytest.raises(ArithmeticError, match="not finite"):
        evaluate(NotANumber(), table, first_split(table), 0)


def test_rows_without_a_known_target_are_not_scored() -> None:
    truth, predicted = np.array([1.0, np.nan, 3.0]), np.array([1.0, 7.0, 5.0])
    assert score("regression", truth, predicted) == {"rmse": pytest.approx(2**0.5), "mse": 2.0}
    assert score("regression", np.full(2, np.nan), np.ones(2)) == {}


def test_metrics_of_hand_examples() -> None:
    truth = np.array([0.0, 1.0, 1.0, 0.0])
    predicted = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    found = score("binary", truth, predicted)
    assert found["accuracy"] == 0.75
    assert found["auroc"] == 0.75
    assert found["nll"] == pytest.approx(-np.log([0.9, 0.8, 0.4, 0.5]).mean())
    assert score("regression", np.array([1.0, 2.0]), np.array([1.0, 4.0])) == {
        "rmse": pytest.approx(2**0.5),
        "mse": 2.0,
    }
    assert score("multiclass", np.array([2.0]), np.array([[0.1, 0.2, 0.7]])) == {
        "accuracy": 1.0,
        "nll": pytest.approx(-np.log(0.7)),
    }


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peaks cannot be forgotten here"
)
def test_the_peak_of_memory_is_that_of_the_fold() -> None:
    table = make_table("regression")
    first, second = (
        evaluate(Wasteful(), table, first_split(table), seed).peak_memory_mb for seed in (0, 1)
    )
    assert first > second + 60


def test_the_trials_of_a_failed_search_are_kept() -> None:
    class Searched(Spy):
        def fit(self, table: Table, split: Split, seed: int) -> Fit:
            raise Infeasible("all failed", [Trial({"k": 5}, float("nan"), "no luck", 1, 0.1)])

    table = make_table("regression")
    result = evaluate(Searched(), table, first_split(table), 0)
    assert (result.status, [trial.reason for trial in result.trials]) == ("failed", ["no luck"])


@pytest.mark.parametrize("classes", [2, 5])
def test_the_negative_log_likelihood_is_scikit_learn_s_log_loss(classes: int) -> None:
    from sklearn.metrics import log_loss

    generator = np.random.default_rng(classes)
    predicted = generator.dirichlet(np.ones(classes) / 3, 200)
    predicted[:3] = np.eye(classes)[[0, 1, 1]]
    truth = generator.integers(0, classes, 200).astype(float)
    truth[:3] = [0, 0, 1]
    assert negative_log_likelihood(truth, predicted) == log_loss(
        truth, predicted, labels=np.arange(classes)
    )
