"""Baselines in the lookup task: fitted to the duplicates, or an exact process on them (DKL)."""

from typing import Any

import numpy as np
import pytest
import torch

from baselines.deep_kernel_learning import BASELINE as METHOD
from baselines.grids import BaselineSettings
from baselines.lookup_task import predict_originals
from baselines.networks import deep_kernel_learning
from baselines.training_data import training_data
from npt.data.encoding import statistics
from npt.errors import Infeasible
from npt.interface import Resources
from npt.probing import Duplicates
from npt.table import Table
from tests.conftest import first_split, make_table

DKL = "deep_kernel_learning"
TABLE = make_table("regression", 200)
SPLIT = first_split(TABLE)
DATA = training_data(TABLE, SPLIT, statistics(TABLE, SPLIT), codes=False)
TRUTH = DATA.target[SPLIT.test]


def duplicates(noise: float = 0.0, shift: float = 0.0) -> Duplicates:
    """Test rows with duplicates: noise on their features, a shift of their standardised targets."""
    originals = DATA.features[SPLIT.test]
    added = np.random.default_rng(0).normal(0, noise, originals.shape)
    return Duplicates(originals, originals + added, TRUTH + shift)


def predicted(name: str, task: Duplicates, table: Table = TABLE, **changes: Any) -> np.ndarray:
    """Predicted originals, standardised; `changes` are of the quick grid's settings."""
    settings = BaselineSettings(**{"grid": "quick", **changes})
    blind = table.blind(SPLIT.test)
    return predict_originals(name, settings, blind, SPLIT, task, 0, Resources(1, "cpu"))


def error(name: str, task: Duplicates, **fixed: Any) -> float:
    """Root mean square error of the predicted originals, standardised."""
    differences = predicted(name, task, fixed=fixed) - TRUTH
    return float(np.sqrt(np.mean(differences**2)))


@pytest.mark.parametrize("name", ["mlp", "random_forest", "xgboost"])
def test_baselines_learn_from_the_duplicates(name: str) -> None:
    assert error(name, duplicates()) < 0.8 * TRUTH.std()
    assert error(name, duplicates(shift=5)) > 3


def test_deep_kernel_learning_interpolates_duplicates_alone() -> None:
    assert error(DKL, duplicates(), max_epochs=10) < 0.05
    assert error(DKL, duplicates(shift=1), max_epochs=10) == pytest.approx(1, abs=0.05)
    assert error(DKL, duplicates(noise=1.0), max_epochs=10) > 0.2


def test_kernel_can_be_learned_from_the_duplicates() -> None:
    """Two epochs on targets that the table does not have move the mean to them."""
    task = duplicates(noise=1.0, shift=50)
    from_duplicates = error(DKL, task, max_epochs=2, from_duplicates=True)
    assert error(DKL, task, max_epochs=2) != pytest.approx(from_duplicates, rel=1e-3)


def test_a_kernel_without_a_factor_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_kernel_learning, "JITTER", -2.0)
    with pytest.raises(Infeasible, match="Cholesky"):
        error(DKL, duplicates(), max_epochs=1)


@pytest.mark.parametrize("transductive", [True, False])
def test_recall_is_standardised_as_the_duplicates_are(transductive: bool) -> None:
    numbers = TABLE.numbers(0)
    numbers[SPLIT.test[0]] += 50
    changes: dict[str, Any] = {"fixed": {"max_epochs": 2}, "transductive": transductive}
    before = predicted(DKL, duplicates(), **changes)
    after = predicted(DKL, duplicates(), TABLE.with_numbers(0, numbers), **changes)
    assert np.array_equal(before, after) != transductive


def test_deep_kernel_learning_predicts_by_its_best_weights() -> None:
    """And by nothing that was computed from the last ones."""
    fast = {"inducing_points": 16, "learning_rate": 0.03, "max_epochs": 80, "patience": 5}
    parameters = {**METHOD.defaults, **fast}
    predictor = deep_kernel_learning.fit_deep_kernel(DATA, parameters, torch.device("cpu"))
    predicted = predictor(DATA.features, parameters)
    predictor.model.train()
    predictor.model.eval()
    assert np.array_equal(predictor(DATA.features, parameters), predicted)


def test_an_infeasible_fit_has_a_reason() -> None:
    task = duplicates()
    single = Duplicates(task.originals[:1], task.duplicates[:1], task.shown[:1])
    with pytest.raises(Infeasible, match="n_neighbors"):
        error("knn", single)


def test_deep_kernel_learning_is_tuned_on_validation_rows() -> None:
    task = duplicates(noise=0.3)
    predictions = []
    for rates in ([1e-9, 1e-2], [1e-2, 1e-9], [1e-2]):  # 1e-9 learns nothing
        grid = {"learning_rate": rates, "inducing_points": [16]}
        predictions.append(predicted(DKL, task, grid=grid, fixed={"max_epochs": 20}))
    assert np.array_equal(predictions[0], predictions[2])
    assert np.array_equal(predictions[1], predictions[2])
