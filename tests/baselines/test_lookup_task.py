"""Baselines in the lookup task: fitted to the duplicates, or an exact process on them (DKL)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.grids import BaselineSettings
from baselines.lookup_task import predict_originals
from baselines.networks import deep_kernel_learning
from baselines.training_data import training_data
from npt.data.datasets import datasets
from npt.data.preparation import prepare_declared
from npt.data.source import MIRROR
from npt.errors import Infeasible
from npt.interface import Resources
from npt.probing import Duplicates
from tests.conftest import first_split, make_table

TABLE = make_table("regression", 200)
SPLIT = first_split(TABLE)
TRUTH = training_data(TABLE, SPLIT, codes=False).target[SPLIT.test]


def duplicates(noise: float = 0.0, shift: float = 0.0) -> Duplicates:
    """Test rows with duplicates: noise on their features, a shift of their standardised targets."""
    data = training_data(TABLE, SPLIT, codes=False)
    originals = data.features[SPLIT.test]
    added = np.random.default_rng(0).normal(0, noise, originals.shape)
    return Duplicates(originals, originals + added, data.target[SPLIT.test] + shift)


def error(name: str, task: Duplicates, fixed: Mapping[str, Any] = {}) -> float:
    """Root mean square error of the predicted originals, standardised."""
    blind = TABLE.blind(SPLIT.test)
    settings = BaselineSettings(grid="quick", fixed=dict(fixed))
    predicted = predict_originals(name, settings, blind, SPLIT, task, 0, Resources(1, "cpu"))
    return float(np.sqrt(np.mean((predicted - TRUTH) ** 2)))


@pytest.mark.parametrize("name", ["mlp", "random_forest", "xgboost"])
def test_baselines_learn_from_the_duplicates(name: str) -> None:
    assert error(name, duplicates()) < 0.8 * TRUTH.std()
    assert error(name, duplicates(shift=5)) > 3


def test_deep_kernel_learning_interpolates_duplicates_alone() -> None:
    few = {"max_epochs": 10}
    assert error("deep_kernel_learning", duplicates(), few) < 0.05
    assert error("deep_kernel_learning", duplicates(shift=1), few) == pytest.approx(1, abs=0.05)
    assert error("deep_kernel_learning", duplicates(noise=1.0), few) > 0.2


def test_kernel_can_be_learned_from_the_duplicates() -> None:
    """Two epochs on targets that the table does not have move the mean to them."""
    fixed = {"max_epochs": 2}
    task = duplicates(noise=1.0, shift=50)
    of_table = error("deep_kernel_learning", task, fixed)
    of_duplicates = error("deep_kernel_learning", task, {**fixed, "from_duplicates": True})
    assert of_table != pytest.approx(of_duplicates, rel=1e-3)


def test_thousand_real_rows_have_a_posterior_mean(tmp_path: Path) -> None:
    if not Path(os.environ.get(MIRROR, ""), "protein").is_dir():
        pytest.skip(f"{MIRROR} has no protein")
    prepared = prepare_declared(datasets()["protein"], tmp_path)
    split = prepared.splits[0]
    data = training_data(prepared.table, split, codes=False)
    rows = split.test[:1000]
    task = Duplicates(data.features[rows], data.features[rows], data.target[rows])
    blind = prepared.table.blind(split.test)
    settings = BaselineSettings(grid="quick", fixed={"max_epochs": 1, "from_duplicates": True})
    predicted = predict_originals(
        "deep_kernel_learning", settings, blind, split, task, 0, Resources(1, "cpu")
    )
    assert np.corrcoef(predicted, task.shown)[0, 1] > 0.5


def test_a_kernel_without_a_factor_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_kernel_learning, "JITTER", -2.0)
    with pytest.raises(Infeasible, match="Cholesky"):
        error("deep_kernel_learning", duplicates(), {"max_epochs": 1})


@pytest.mark.parametrize("transductive", [True, False])
def test_recall_is_standardised_as_the_duplicates_are(transductive: bool) -> None:
    numbers = TABLE.numbers(0)
    numbers[SPLIT.test[0]] += 50
    fixed = {"max_epochs": 2}
    settings = BaselineSettings(grid="quick", fixed=fixed, transductive=transductive)
    predictions = []
    for table in (TABLE, TABLE.with_numbers(0, numbers)):
        predicted = predict_originals(
            "deep_kernel_learning",
            settings,
            table.blind(SPLIT.test),
            SPLIT,
            duplicates(),
            0,
            Resources(1, "cpu"),
        )
        predictions.append(predicted)
    assert np.array_equal(*predictions) != transductive


def test_an_infeasible_fit_has_a_reason() -> None:
    task = duplicates()
    single = replace(
        task,
        originals=task.originals[:1],
        duplicates=task.duplicates[:1],
        shown=task.shown[:1],
    )
    with pytest.raises(Infeasible, match="n_neighbors"):
        error("knn", single)


def test_deep_kernel_learning_is_tuned_on_validation_rows() -> None:
    blind = TABLE.blind(SPLIT.test)
    rates = [1e-9, 1e-2]  # the first learns nothing
    predictions = []
    for grid in (rates, rates[::-1], rates[1:]):
        settings = BaselineSettings(
            grid={"learning_rate": grid, "inducing_points": [16]}, fixed={"max_epochs": 20}
        )
        task = duplicates(noise=0.3)
        resources = Resources(1, "cpu")
        predictions.append(
            predict_originals("deep_kernel_learning", settings, blind, SPLIT, task, 0, resources)
        )
    assert np.array_equal(predictions[0], predictions[2])
    assert np.array_equal(predictions[1], predictions[2])
