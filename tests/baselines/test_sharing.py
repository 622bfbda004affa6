"""Shared work gives what scikit-learn's grid search gives, configuration by configuration, on real tables."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines import methods
from baselines.declaration import BaselineSettings
from baselines.search import SearchLearner
from npt.interface import Fit, Resources
from npt.table import Split, Table
from performance.naive_search import naive_search
from tests.conftest import first_split, make_table
from npt.data.preparation import prepare

PAPER = "paper"
SHORT = {"learning_rate": [0.01, 0.3], "max_depth": [3], "n_estimators": [50, 100, 200]}
TREES = {
    "criterion": ["squared_error", "absolute_error"],
    "n_estimators": [50, 100],
    "max_features": [1.0, "sqrt", "log2"],
}
VOTES = {
    "criterion": ["gini", "entropy"],
    "n_estimators": [50, 100, 200],
    "max_features": ["sqrt", "log2"],
}
NETWORKS = {
    "hidden_layer_sizes": [[25], [50, 50]], "alpha": [0, 0.1], "batch_size": [64], "learning_rate_init": [1e-3, 0.1],
    "learning_rate": ["constant", "invscaling", "adaptive"],
}  # fmt: skip


@cache
def real(name: str) -> tuple[Table, Split]:
    """A table that installed packages bring, and its first fold, blind."""
    prepared = prepare(name, Path("unused"))
    return prepared.table.blind(prepared.splits[0].test), prepared.splits[0]


def search(
    name: str, table: Table, split: Split, grid: Any, **more: Any
) -> tuple[SearchLearner, Fit]:
    learner: Any = methods()[name].build(BaselineSettings(grid, **more), Resources())
    return learner, learner.fit(table, split, 0)


@pytest.mark.parametrize(
    ("name", "table", "grid"),
    [
        ("random_forest", "breast_cancer", VOTES),
        ("random_forest", "yacht", TREES),
        ("gradient_boosting", "breast_cancer", SHORT),
        ("gradient_boosting", "yacht", SHORT),
        ("xgboost", "breast_cancer", SHORT),
        ("xgboost", "yacht", PAPER),
        ("lightgbm", "wine", SHORT),
        ("lightgbm", "yacht", PAPER),
        ("catboost", "wine", SHORT),
        ("catboost", "yacht", SHORT),
        ("knn", "breast_cancer", PAPER),
        ("mlp", "wine", NETWORKS),
        ("mlp", "yacht", NETWORKS),
    ],
)
def test_every_score_is_that_of_scikit_learn_s_search_and_the_same_configuration_wins(
    name: str, table: str, grid: Any
) -> None:
    learner, fit = search(name, *real(table), grid)
    theirs = naive_search(learner)
    assert [dict(trial.parameters) for trial in fit.trials] == theirs.cv_results_["params"]
    ours = np.array([trial.validation_loss for trial in fit.trials])
    assert ours == pytest.approx(-theirs.cv_results_["mean_test_score"], rel=1e-10)
    assert fit.chosen == theirs.best_params_
    assert fit.fits < len(ours)


def test_neighbours_at_equal_distance_are_the_exception_and_have_a_rule() -> None:
    """A row at the k-th distance is taken by its number here; scikit-learn's choice depends on algorithm and leaf size."""
    for table, largest in (("concrete", 0.003), ("yacht", 0.6)):
        learner, fit = search("knn", *real(table), PAPER)
        theirs = -naive_search(learner).cv_results_["mean_test_score"]
        ours = np.array([trial.validation_loss for trial in fit.trials])
        assert 1e-6 < np.max(np.abs(ours / theirs - 1)) < largest
        data = learner.data
        distances = np.abs(data.features[data.validation][:, None] - data.features[data.train])
        nearest = {
            1: distances.sum(-1).argsort(1, kind="stable"),
            2: (distances**2).sum(-1).argsort(1, kind="stable"),
        }
        for trial in fit.trials:
            if trial.parameters["weights"] == "uniform":
                k, p = trial.parameters["n_neighbors"], trial.parameters["p"]
                predicted = data.target[data.train][nearest[p][:, :k]].mean(1)
                assert trial.validation_loss == pytest.approx(
                    np.mean((predicted - data.target[data.validation]) ** 2)
                )


@pytest.mark.parametrize("p", [1, 2])
def test_nearest_rows_are_found_exactly_among_many_at_equal_distance(p: int) -> None:
    from baselines.knn import NeighbourSearch

    generator = np.random.default_rng(0)
    rows, wanted = (
        generator.integers(0, 3, (2000, 4)).astype(float),
        generator.integers(0, 3, (50, 4)).astype(float),
    )
    every = (np.abs(wanted[:, None] - rows) ** p).sum(-1) ** (1 / p)
    order = every.argsort(1, kind="stable")[:, :7]
    distances, found = NeighbourSearch(rows, p, 1).nearest(wanted, 7)
    assert np.array_equal(found, order)
    assert distances == pytest.approx(np.take_along_axis(every, order, 1))


@pytest.mark.parametrize(
    ("name", "native"),
    [
        ("random_forest", False), ("gradient_boosting", False), ("xgboost", False), ("xgboost", True), ("lightgbm", False),
        ("lightgbm", True), ("catboost", False), ("catboost", True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_the_first_part_of_a_long_fit_is_the_short_fit_to_the_last_bit(
    name: str, native: bool, task: Any
) -> None:
    table = make_table(task, 300)
    split = first_split(table)
    blind = table.blind(split.test)
    grid: dict[str, list[Any]] = (
        {"max_features": ["sqrt"]}
        if name == "random_forest"
        else {"learning_rate": [0.1], "max_depth": [3]}
    )
    counts = [20, 60, 250]
    learner, fit = search(
        name, blind, split, {**grid, "n_estimators": counts}, native_categories=native
    )
    assert fit.fits == (
        2 if native and name == "catboost" else 1
    )  # CatBoost combines categories from 200 rounds on
    for count, trial in zip(counts, fit.trials, strict=True):
        alone, own = search(
            name, blind, split, {**grid, "n_estimators": [count]}, native_categories=native
        )
        assert own.validation_loss == trial.validation_loss
        if learner.best.parameters["n_estimators"] == count:
            assert np.array_equal(
                alone.predict(split.test).values, learner.predict(split.test).values
            )


def test_nothing_is_shared_where_the_rounds_depend_on_their_number() -> None:
    table = make_table("regression", 150)
    split = first_split(table)
    grid = {"learning_rate": [0.1], "max_depth": [3], "n_estimators": [20, 50]}
    assert search("xgboost", table.blind(split.test), split, grid)[1].fits == 1
    assert (
        search("xgboost", table.blind(split.test), split, grid, fixed={"subsample": 0.5})[1].fits
        == 2
    )
    assert (
        search("lightgbm", table.blind(split.test), split, grid, fixed={"min_child_samples": 5})[
            1
        ].fits
        == 1
    )
    del grid["learning_rate"]  # CatBoost then takes one that depends on the number of rounds
    assert search("catboost", table.blind(split.test), split, grid)[1].fits == 2


def test_schedules_are_followed_by_plain_gradient_descent() -> None:
    table = make_table("regression", 150)
    split = first_split(table)
    grid = {"learning_rate": ["constant", "invscaling"], "learning_rate_init": [0.01]}
    assert search("mlp", table.blind(split.test), split, grid)[1].fits == 1
    _, fit = search(
        "mlp", table.blind(split.test), split, grid, fixed={"solver": "sgd", "early_stopping": True}
    )
    assert fit.fits == 2
    assert fit.trials[0].validation_loss != fit.trials[1].validation_loss


def test_a_forest_s_or_ensemble_s_early_stop_serves_every_larger_number() -> None:
    table = make_table("regression", 150)
    split = first_split(table)
    grid = {"learning_rate": [0.3], "max_depth": [3], "n_estimators": [5, 400]}
    _, fit = search(
        "gradient_boosting", table.blind(split.test), split, grid, fixed={"n_iter_no_change": 2}
    )
    assert fit.fits == 2
    assert all(np.isfinite(trial.validation_loss) for trial in fit.trials)
