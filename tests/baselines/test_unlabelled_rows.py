"""Baselines that read rows without labels."""

from dataclasses import replace

import numpy as np
import pytest

from baselines import baselines
from baselines.label_spreading import Spreading
from baselines.training_data import TrainingData
from npt.interface import Resources

NAMES = ["label_spreading", "self_training"]


def two_clusters(unlabelled: int) -> TrainingData:
    """Far clusters, each with a label at its end and unlabelled rows between."""
    generator = np.random.default_rng(0)
    rows = 2 * (unlabelled // 2) + 2
    cluster = np.arange(rows) % 2
    along = np.linspace(0, 10, rows)
    features = np.column_stack([along, 3.0 * cluster + generator.normal(0, 0.1, rows)])
    target = np.full(rows, np.nan)
    target[[0, rows - 1]] = [0, 1]
    return TrainingData(
        features=features,
        target=target,
        train=np.array([0, rows - 1]),
        validation=np.array([0, rows - 1]),
        task="binary",
        classes=2,
        unlabelled=np.arange(1, rows - 1),
    )


def test_labels_spread_over_unlabelled_rows() -> None:
    data = two_clusters(100)
    parameters = {"n_neighbors": 7, "alpha": 0.99}
    predict = baselines()["label_spreading"].fit(data, parameters, 0, Resources())
    probabilities = predict(data.features, {})
    assert np.array_equal(probabilities.argmax(1), np.arange(len(probabilities)) % 2)


@pytest.mark.parametrize("unlabelled", [90, 0])
def test_predictions_are_weighted_sums_of_labels(unlabelled: int) -> None:
    data = two_clusters(98)
    target = np.arange(len(data.features)) % 2.0
    without = np.arange(10, 10 + unlabelled)
    data = replace(data, train=np.arange(0, 10), target=target, unlabelled=without)
    predict = baselines()["label_spreading"].fit(data, {"alpha": 0.9}, 0, Resources())
    assert isinstance(predict, Spreading)
    queries = data.features + 0.5
    weights = predict.weights(data.stored_rows, queries, {})
    assert weights @ data.stored_rows.targets == pytest.approx(predict(queries, {}), abs=1e-4)
    few = data.stored_rows.take(np.array([3, 5]))  # of one class
    assert np.array_equal(predict.predict_from(few, queries, {})[:, 1], np.ones(len(queries)))


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_without_unlabelled_rows_or_with_one_class_predicts(name: str) -> None:
    baseline = baselines()[name]
    alone = two_clusters(0)
    for data in (alone, two_clusters(20)):
        probabilities = baseline.fit(data, {}, 0, Resources())(data.features, {})
        assert np.allclose(probabilities.sum(1), 1)
    one_class = replace(alone, target=np.zeros(2))
    assert np.all(baseline.fit(one_class, {}, 0, Resources())(alone.features, {}) == 1)
