"""Baselines in the lookup task: fitted to the duplicates, or, deep kernel learning, an exact process on them."""

from __future__ import annotations

import numpy as np
import pytest

from baselines import baselines
from baselines.declaration import training_data
from baselines.search import looked_up
from npt.interface import Duplicates, Infeasible, Resources
from tests.conftest import first_split, make_table


def task(noise: float = 0.0) -> tuple[Duplicates, np.ndarray]:
    """The test rows of a small table, with their duplicates."""
    table = make_table("regression", 200)
    split = first_split(table)
    data = training_data(table, split, codes=False)
    rows = data.features[split.test]
    moved = rows + np.random.default_rng(0).normal(0, noise, rows.shape)
    return Duplicates(rows, moved, data.target[split.test]), data.target[split.test]


def error(name: str, given: Duplicates, truth: np.ndarray, fixed: bool = False) -> float:
    table = make_table("regression", 200)
    split = first_split(table)
    data = training_data(table.blind(split.test), split, codes=False)
    return float(
        np.sqrt(
            np.mean(
                (looked_up(baselines()[name], data, given, 0, Resources(1, "cpu")) - truth) ** 2
            )
        )
    )


@pytest.mark.parametrize("name", ["mlp", "random_forest", "xgboost"])
def test_what_is_fitted_to_the_duplicates_learns_from_them(name: str) -> None:
    given, truth = task()
    assert error(name, given, truth) < 0.8 * truth.std()
    shifted = Duplicates(given.originals, given.duplicates, given.shown + 5)
    assert error(name, shifted, truth) > 3


def test_deep_kernel_learning_interpolates_the_duplicates_exactly_and_follows_them() -> None:
    given, truth = task()
    assert error("deep_kernel_learning", given, truth) < 0.05
    shifted = Duplicates(given.originals, given.duplicates, given.shown + 1)
    assert error("deep_kernel_learning", shifted, truth) == pytest.approx(1, abs=0.05)
    noisy, _ = task(noise=1.0)
    assert error("deep_kernel_learning", noisy, truth) > 0.2


def test_one_that_cannot_be_fitted_says_why() -> None:
    given, _ = task()
    few = Duplicates(given.originals[:1], given.duplicates[:1], given.shown[:1])
    with pytest.raises(Infeasible, match="n_neighbors"):
        error("knn", few, given.shown[:1])
