"""What of a fold a learner sees, and how its predictions are scored."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from baselines import methods
from npt.errors import Infeasible
from npt.evaluation import evaluate
from npt.interface import Fit, Prediction, Resources, Trial
from npt.metrics import negative_log_likelihood, score
from npt.table import Split, Table, Task
from npt.train_rows import TrainRows
from tests.conftest import first_split, make_table


class Spy:
    """Predicts the mean of the visible targets, and keeps the table."""

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        self.table = table
        return Fit({}, 1.0, 1)

    def predict(self, rows: np.ndarray) -> Prediction:
        mean = np.nanmean(self.table.truth)
        return Prediction(np.full(len(rows), mean))


class FailedSearch(Spy):
    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        trial = Trial({"k": 5}, float("nan"), "no luck", 1, 0.1)
        raise Infeasible("all\nfailed", [trial])


def test_the_learner_never_sees_a_test_target() -> None:
    table = make_table("regression")
    split = first_split(table)
    spy = Spy()
    result = evaluate(spy, table, split, 0)
    assert np.isnan(spy.table.truth[split.test]).all()
    assert not np.isnan(spy.table.truth[split.train]).any()
    assert not np.isnan(table.truth).any()
    mean = np.delete(table.truth, split.test).mean()
    errors = table.truth[split.test] - mean
    values = score("regression", table.truth[split.test], result.predictions["test"].values)
    assert values["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))


def test_seconds_of_the_fit_include_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(perf_counter=iter([10.0, 13.0, 18.0]).__next__)
    monkeypatch.setattr("npt.evaluation.time", clock)
    monkeypatch.setattr(Spy, "fit", lambda *_: Fit({}, 1.0, 1, earlier_seconds=1000.0))
    monkeypatch.setattr(Spy, "predict", lambda _, rows: Prediction(np.ones(len(rows))))
    table = make_table("regression")
    result = evaluate(Spy(), table, first_split(table), 0)
    assert (result.fit_seconds, result.predict_seconds) == (1003, 5)


def test_prediction_that_is_not_finite_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spy, "predict", lambda _, rows: Prediction(np.full(len(rows), np.nan)))
    table = make_table("regression")
    with pytest.raises(ArithmeticError):
        evaluate(Spy(), table, first_split(table), 0)


def test_an_infeasible_fit_is_a_failed_evaluation_with_its_trials() -> None:
    table = make_table("regression")
    result = evaluate(FailedSearch(), table, first_split(table), 0)
    assert (result.status, result.reason) == ("failed", "all failed")
    assert result.predictions == {}
    assert [trial.reason for trial in result.trials] == ["no luck"]


def test_metrics_of_hand_examples() -> None:
    truth = np.array([0.0, 1.0, 1.0, 0.0])
    predicted = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    binary = score("binary", truth, predicted)
    assert binary["accuracy"] == 0.75
    assert binary["auroc"] == 0.75
    assert np.isnan(score("binary", truth[1:3], predicted[1:3])["auroc"])
    assert binary["nll"] == pytest.approx(-np.log([0.9, 0.8, 0.4, 0.5]).mean())
    partly_known = np.array([1.0, np.nan, 3.0])
    errors = score("regression", partly_known, np.array([1.0, 7.0, 5.0]))
    assert (errors["rmse"], errors["mse"]) == (pytest.approx(2**0.5), 2.0)
    assert score("regression", np.full(2, np.nan), np.ones(2)) == {}
    of_classes = score("multiclass", np.array([2.0]), np.array([[0.1, 0.2, 0.7]]))
    assert of_classes["accuracy"] == 1.0
    assert of_classes["nll"] == pytest.approx(-np.log(0.7))
    assert of_classes["brier"] == pytest.approx(0.1**2 + 0.2**2 + 0.3**2)
    assert of_classes["ece"] == pytest.approx(0.3)
    assert "auroc" not in of_classes
    predicted = np.array([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1], [0.9, 0.1]])
    calibration = score("binary", truth, predicted)["ece"]
    # Confident by 0.9 in three rows, right in two of them; by 0.8 in one, and right.
    assert calibration == pytest.approx(3 / 4 * (0.9 - 2 / 3) + 1 / 4 * 0.2)


def test_confidences_have_fifteen_bins() -> None:
    """0.61 and 0.68 are in two of them; 0.95 and 1 are in the last one."""
    confidence = np.array([0.61, 0.68, 0.95, 1.0])
    predicted = np.stack([1 - confidence, confidence], 1)
    calibration = score("binary", np.array([0.0, 1, 1, 0]), predicted)["ece"]
    assert calibration == pytest.approx((0.61 + 0.32 + (1 - 0.05)) / 4)


@pytest.mark.parametrize("classes", [2, 5])
def test_the_nll_is_the_log_loss_of_scikit_learn(classes: int) -> None:
    from sklearn.metrics import log_loss

    generator = np.random.default_rng(classes)
    predicted = generator.dirichlet(np.ones(classes) / 3, 200)
    predicted[:3] = np.eye(classes)[[0, 1, 1]]
    truth = generator.integers(0, classes, 200).astype(float)
    truth[:3] = [0, 0, 1]
    expected = log_loss(truth, predicted, labels=np.arange(classes))
    assert negative_log_likelihood(truth, predicted) == expected


PEAKS = """
import numpy as np
from npt.evaluation import evaluate
from tests.conftest import first_split, make_table
from tests.npt.test_evaluation import Spy

class Wasteful(Spy):
    def fit(self, table, split, seed):
        np.ones(seed * 1_000_000 // 8)
        return super().fit(table, split, seed)

table = make_table("regression")
for megabytes in (200, 0):
    print(evaluate(Wasteful(), table, first_split(table), megabytes).peak_memory_mb)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the system does not reset peaks"
)
def test_the_peak_memory_is_that_of_the_fold() -> None:
    """In a process of its own, where no earlier test has freed memory."""
    finished = subprocess.run(
        [sys.executable, "-c", PEAKS], capture_output=True, text=True, check=True
    )
    first, second = map(float, finished.stdout.split())
    assert first > second + 100


TASKS: tuple[Task, ...] = ("regression", "multiclass")


@pytest.mark.parametrize("task", TASKS)
def test_few_labels_are_nested_and_validation_labels_are_as_scarce(task: Task) -> None:
    table = make_table(task, 200)
    split = first_split(table)
    smaller: set[int] = set()
    for labels in (5, 20, 60):
        shown, its_split = TrainRows(labels=labels).of_fold(table, split)
        assert its_split is split
        rows = shown.labelled(split.train)
        assert len(rows) == labels
        assert smaller < set(rows.tolist())
        smaller = set(rows.tolist())
        validated = len(shown.labelled(split.validation))
        assert validated == max(1, round(len(split.validation) * labels / len(split.train)))


def test_few_labels_have_the_classes_in_proportion() -> None:
    table = make_table("multiclass", 400)
    split = first_split(table)
    shown, _ = TrainRows(labels=30).of_fold(table, split)
    rows = shown.labelled(split.train)
    shares = np.bincount(table.truth[split.train].astype(int)) / len(split.train)
    counts = np.bincount(table.truth[rows].astype(int), minlength=len(shares))
    assert np.abs(counts - 30 * shares).max() <= 1


def test_other_rows_are_present_permuted_or_absent() -> None:
    table = make_table("regression", 100)
    split = first_split(table)
    present, _ = TrainRows(labels=10).of_fold(table, split)
    permuted, _ = TrainRows(labels=10, unlabelled="permuted").of_fold(table, split)
    absent, its_split = TrainRows(labels=10, unlabelled="absent").of_fold(table, split)
    rows = present.labelled(split.train)
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
