"""Models of stored rows: what they need of them, how much each counts, and what leaks nowhere."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from baselines import baselines
from baselines.grids import BaselineSettings
from baselines.network_baseline import RetrievalBaseline
from baselines.networks.anp import training_points
from baselines.networks.retrieval import RetrievalPredictor
from baselines.npt_solved import SolvedRows
from baselines.probe import StoredRowProbe
from baselines.stored_rows import StoredRows
from baselines.trained import TrainedBaseline
from baselines.tuned import TunedBaseline
from npt.interface import Resources
from npt.perturbation import Perturbation
from npt.table import Task
from tests.conftest import first_split, make_table

ROW_MODELS = [name for name, baseline in baselines().items() if baseline.keeps_train_rows]
RETRIEVING = ("modern_nca", "tabr")  # train rows from all others
NETWORKS = [
    name for name, baseline in baselines().items() if isinstance(baseline, RetrievalBaseline)
]
TASKS: tuple[Task, ...] = ("multiclass", "regression")
CASES = [
    (name, task) for name in ROW_MODELS for task in TASKS if not baselines()[name].supports(task)
]
OF_CLASSES = [name for name, task in CASES if task == "multiclass"]
AVERAGING = ("knn", "modern_nca", "tabr", "anp", "label_spreading")  # weights are shares
LINEAR = ("knn", "modern_nca", "gaussian_process", "xrfm")  # in the stored labels
ROWS = 90


@cache
def trained(name: str, task: Task, **fixed: Any) -> TrainedBaseline:
    baseline = baselines()[name]
    settings = baseline.test_settings
    fixed = {**settings.get("fixed", {}), **fixed}
    table = make_table(task, ROWS)
    split = first_split(table)
    learner = TunedBaseline(baseline, BaselineSettings(**{**settings, "fixed": fixed}), Resources())
    learner.fit(table.blind(split.test), split, 0)
    assert isinstance(learner.trained, TrainedBaseline)
    return learner.trained


def held_out(model: TrainedBaseline) -> np.ndarray:
    """Test rows."""
    used = np.concatenate([model.data.train, model.data.validation])
    return np.setdiff1d(np.arange(ROWS), used)


def stored_and_queries(model: TrainedBaseline) -> tuple[StoredRows, np.ndarray]:
    """The stored rows, and the features of the test rows."""
    return model.data.stored_rows, model.data.features[held_out(model)]


@pytest.mark.parametrize(("name", "task"), CASES)
def test_neither_order_nor_other_queries_change_a_prediction(name: str, task: Task) -> None:
    model = trained(name, task)
    stored, features = stored_and_queries(model)
    expected = pytest.approx(model.predict(held_out(model)).values, rel=1e-4, abs=1e-4)
    reordered = stored.take(np.random.default_rng(0).permutation(len(stored.labels)))
    assert model.predict_from(reordered, features) == expected
    alone = [model.predict_from(stored, query[None]) for query in features]
    assert np.concatenate(alone) == expected


@pytest.mark.parametrize(("name", "task"), CASES)
def test_weights_are_a_number_for_each_query_and_row(name: str, task: Task) -> None:
    model = trained(name, task)
    stored, features = stored_and_queries(model)
    weights = model.predictor.weights(stored, features, model.parameters)
    assert weights.shape == (len(features), len(stored.labels))
    if name in AVERAGING:
        assert (weights >= 0).all()
        assert weights.sum(1) == pytest.approx(np.ones(len(features)), rel=1e-5)


@pytest.mark.parametrize("name", LINEAR)
def test_weights_of_linear_smoothers_are_derivatives(name: str) -> None:
    model = trained(name, "regression")
    stored, features = stored_and_queries(model)
    weights = model.predictor.weights(stored, features, model.parameters)
    before = model.predict_from(stored, features)
    for index in range(0, len(stored.labels), 5):
        labels = stored.labels.copy()
        labels[index] += 1
        after = model.predict_from(replace(stored, labels=labels), features)
        derivative = (after - before) / model.statistics.scale[model.target]
        assert derivative == pytest.approx(weights[:, index], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_classes_are_those_trained_on_whatever_rows_are_left(name: str) -> None:
    model = trained(name, "multiclass")
    stored, features = stored_and_queries(model)
    one_class = stored.take(np.flatnonzero(stored.labels == 2))
    predicted = model.predict_from(one_class, features)
    assert predicted.shape == (len(features), 3)
    if "without_datapoints" not in baselines()[name].twins:  # a path of its own
        assert (predicted.argmax(1) == 2).mean() > 0.9


@pytest.mark.parametrize(("name", "task"), CASES)
def test_shuffled_rows_move_predictions_and_identity_does_not(name: str, task: Task) -> None:
    model = trained(name, task)
    assert moved(model, Perturbation("shuffle", 0.0)) < 1e-4
    assert moved(model, Perturbation("shuffle", 1.0)) > 0.01


@pytest.mark.parametrize(("name", "task"), CASES)
def test_half_of_the_context_is_half_of_the_stored_rows(name: str, task: Task) -> None:
    model = trained(name, task)
    stored, features = stored_and_queries(model)
    (group,) = StoredRowProbe(model).query_groups(held_out(model))
    kept = np.arange(0, len(model.data.train), 2)
    predicted = group.predict(range(len(features)), [kept] * len(features))
    expected = model.predict_from(stored.take(kept), features)
    assert predicted == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", [*NETWORKS, "gaussian_process"])
def test_learning_changes_the_weights(name: str) -> None:
    longer = {"max_epochs": 20} if name in NETWORKS else {}
    model = trained(name, "regression", **longer)
    initial = StoredRowProbe(model).before_training()
    assert initial is not None
    rows = held_out(model)
    pairs = zip(StoredRowProbe(model).attention(rows), initial.attention(rows), strict=True)
    for after, before in pairs:
        assert after.weights[0].shape == (1, len(model.data.train))
        assert after.weights[0].sum() == pytest.approx(1, rel=1e-5)
        assert not np.allclose(after.weights[0], before.weights[0])


def test_neighbours_learn_nothing() -> None:
    assert StoredRowProbe(trained("knn", "regression")).before_training() is None


def training_outputs(
    predictor: RetrievalPredictor, features: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """What training compares with the labels (m,) of rows (m, F): each from the others."""
    rows = torch.as_tensor(features).float()
    with torch.no_grad():
        targets = torch.as_tensor(labels).float()
        outputs = predictor.network(rows, rows, targets, torch.arange(len(rows)))
    return outputs.double().numpy()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", RETRIEVING)
def test_a_train_row_never_sees_its_own_target(name: str, task: Task) -> None:
    predictor = trained(name, task).predictor
    assert isinstance(predictor, RetrievalPredictor)
    labels = np.asarray(predictor.stored.labels, float)
    features = predictor.stored.features
    before = training_outputs(predictor, features, labels)
    for row in (0, 7, len(labels) - 1):
        changed = labels.copy()
        changed[row] = (changed[row] + 1) % 3 if task == "multiclass" else changed[row] + 100
        after = training_outputs(predictor, features, changed)
        assert np.array_equal(after[row], before[row])
        assert np.abs(np.delete(after - before, row, axis=0)).max() > 1e-3


@pytest.mark.parametrize("rows", [2, 90])
def test_a_process_predicts_rows_outside_its_context(rows: int) -> None:
    for batch in torch.randperm(rows).split(32):
        points, context = training_points(batch, rows, most=20)
        assert 1 <= context <= 20
        assert len(points.unique()) == len(points)
        if len(batch) < rows:
            assert torch.equal(points[context:], batch)
        else:
            assert context < len(points) == rows


@pytest.mark.parametrize("name", ["anp", "tabr"])
def test_twins_depend_on_no_rows_or_no_labels(name: str) -> None:
    shuffle = Perturbation("shuffle", 1.0)
    reads = "reads" if name == "anp" else "retrieves"
    alone = trained(name, "regression", **{reads: False})
    assert moved(alone, shuffle) < 1e-5
    for attention in StoredRowProbe(alone).attention(held_out(alone)):
        assert not attention.weights
    unlabelled = trained(name, "regression", context_labels=False)
    assert moved(unlabelled, Perturbation("shuffle", 1.0, columns="target")) < 1e-5
    assert moved(unlabelled, shuffle) > 1e-3


def moved(model: TrainedBaseline, perturbation: Perturbation) -> float:
    """Largest change of a prediction where the other rows are perturbed."""
    rows = held_out(model)
    perturbed = StoredRowProbe(model).predict_perturbed(rows, perturbation, 0)
    return float(np.abs(perturbed - model.predict(rows).values).max())


@pytest.mark.parametrize(("name", "task"), CASES)
def test_a_stored_row_alone_is_enough(name: str, task: Task) -> None:
    model = trained(name, task)
    stored, features = stored_and_queries(model)
    assert np.isfinite(model.predict_from(stored.take(np.array([3])), features)).all()


@pytest.mark.parametrize("name", RETRIEVING)
def test_a_last_batch_of_one_row_is_no_failure(name: str) -> None:
    fixed = {"batch_size": 32} | ({"blocks": 1} if name == "modern_nca" else {})
    baseline = baselines()[name]
    data = trained(name, "regression").data
    data = replace(data, train=data.train[:33])
    parameters = {**baseline.defaults, **fixed, "max_epochs": 2}
    predictor = baseline.fit(data, parameters, 0, Resources(device="cpu"))
    assert np.isfinite(predictor(data.features, parameters)).all()


def test_solved_npt_leaves_out_the_groups_of_the_table() -> None:
    table = replace(make_table("regression", ROWS), groups=np.arange(ROWS) // 6)
    split = first_split(table)
    learner = TunedBaseline(baselines()["npt_solved"], BaselineSettings(), Resources())
    learner.fit(table.blind(split.test), split, 0)
    assert isinstance(learner.trained, TrainedBaseline)
    model = learner.trained.predictor
    assert isinstance(model, SolvedRows)
    expected = table.groups[learner.trained.data.train]
    context = model.model.context
    assert context.groups is not None
    pairs = np.unique(np.stack([expected, context.groups[context.places]]), axis=1)
    assert pairs.shape[1] == len(np.unique(expected)) == len(np.unique(context.groups))
