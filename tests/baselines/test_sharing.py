"""Shared work gives what scikit-learn's grid search gives, configuration by configuration."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines import baselines
from baselines.grids import BaselineSettings
from baselines.knn import Neighbours
from baselines.stored_rows import StoredRows
from baselines.tuned import TunedBaseline
from npt.data.datasets import datasets
from npt.data.preparation import prepare_declared
from npt.interface import Fit, Resources
from npt.table import Split, Table, Task
from tests.baselines.naive_search import naive_search
from tests.conftest import first_split, make_table

NEIGHBOURS = {
    "n_neighbors": [2, 5, 100],
    "weights": ["uniform", "distance"],
    "algorithm": ["ball_tree", "kd_tree", "brute"],
    "leaf_size": [10],
    "p": [1, 2],
}
SHORT = {"learning_rate": [0.01, 0.3], "max_depth": [3], "n_estimators": [10, 20, 60]}
TREES = {
    "criterion": ["squared_error", "absolute_error"],
    "n_estimators": [5, 10],
    "max_features": [1.0, "sqrt", "log2"],
}
VOTES = {
    "criterion": ["gini", "entropy"],
    "n_estimators": [5, 10, 20],
    "max_features": ["sqrt", "log2"],
}
NETWORKS = {
    "hidden_layer_sizes": [[8, 8]],
    "alpha": [0.1],
    "batch_size": [64],
    "learning_rate_init": [1e-3, 0.1],
    "learning_rate": ["constant", "invscaling", "adaptive"],
}


@cache
def real(name: str) -> tuple[Table, Split]:
    """A table that installed packages contain, blind, and its first fold."""
    prepared = prepare_declared(datasets()[name], Path("unused"))
    split = prepared.splits[0]
    return prepared.table.blind(split.test), split


@cache
def made(task: Task = "regression", rows: int = 150) -> tuple[Table, Split]:
    table = make_table(task, rows)
    split = first_split(table)
    return table.blind(split.test), split


def search(
    name: str, fold: tuple[Table, Split], grid: Any, **changes: Any
) -> tuple[TunedBaseline, Fit]:
    settings = BaselineSettings(grid=grid, **changes)
    learner = TunedBaseline(baselines()[name], settings, Resources())
    return learner, learner.fit(*fold, 0)


def losses(fit: Fit) -> np.ndarray:
    return np.array([trial.validation_loss for trial in fit.trials])


@pytest.mark.parametrize(
    ("name", "table", "grid"),
    [
        ("random_forest", "breast_cancer", VOTES),
        ("random_forest", "yacht", TREES),
        ("gradient_boosting", "breast_cancer", SHORT),
        ("gradient_boosting", "yacht", SHORT),
        ("xgboost", "breast_cancer", SHORT),
        ("xgboost", "yacht", SHORT),
        ("lightgbm", "wine", SHORT),
        ("lightgbm", "yacht", SHORT),
        ("catboost", "wine", SHORT),
        ("catboost", "yacht", SHORT),
        ("knn", "breast_cancer", NEIGHBOURS),
        ("mlp", "wine", NETWORKS),
        ("mlp", "yacht", NETWORKS),
    ],
)
def test_every_score_is_that_of_grid_search_cv(name: str, table: str, grid: Any) -> None:
    learner, fit = search(name, real(table), grid)
    naive = naive_search(learner)
    assert [dict(trial.parameters) for trial in fit.trials] == naive.cv_results_["params"]
    assert losses(fit) == pytest.approx(-naive.cv_results_["mean_test_score"], rel=1e-10)
    assert fit.chosen == naive.best_params_
    assert fit.fits < len(fit.trials)


def test_a_forest_has_the_trees_of_the_library_where_none_are_stated() -> None:
    fold = made()
    _, default = search("random_forest", fold, {"max_features": [1.0]})
    _, stated = search("random_forest", fold, {"max_features": [1.0], "n_estimators": [100]})
    assert default.validation_loss == stated.validation_loss


@pytest.mark.parametrize("p", [1, 2])
def test_nearest_rows_are_exact_among_many_ties(p: int) -> None:
    generator = np.random.default_rng(0)
    rows = generator.integers(0, 3, (2000, 4)).astype(float)
    queries = generator.integers(0, 3, (50, 4)).astype(float)
    to_all = (np.abs(queries[:, None] - rows) ** p).sum(-1) ** (1 / p)
    expected = to_all.argsort(1, kind="stable")[:, :7]
    stored = StoredRows(rows, np.zeros(len(rows)))
    distances, neighbours = Neighbours(stored, p, 7, 1).nearest(stored, queries)
    assert np.array_equal(neighbours, expected)
    assert distances == pytest.approx(np.take_along_axis(to_all, expected, 1))


@pytest.mark.parametrize(
    ("name", "native"),
    [("xgboost", True), ("lightgbm", True), ("catboost", False), ("catboost", True)],
)
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_first_part_of_a_long_fit_is_the_short_fit(name: str, native: bool, task: Task) -> None:
    fold = made(task, 300)
    test = fold[1].test
    grid: dict[str, Any] = {"learning_rate": [0.1], "max_depth": [3]}
    counts = [20, 210] if name == "catboost" else [5, 60]
    together, fit = search(name, fold, {**grid, "n_estimators": counts}, native_categories=native)
    # CatBoost has other defaults from 200 rounds on: for categories, and for binary tables.
    other_defaults = name == "catboost" and (native or task == "binary")
    assert fit.fits == (2 if other_defaults else 1)
    for count, trial in zip(counts, fit.trials, strict=True):
        single = {**grid, "n_estimators": [count]}
        alone, fit_alone = search(name, fold, single, native_categories=native)
        assert fit_alone.validation_loss == trial.validation_loss
        if fit.chosen["n_estimators"] == count:
            expected = alone.predict(test).values
            assert np.array_equal(together.predict(test).values, expected)


ROUNDS = {"learning_rate": [0.3], "max_depth": [3], "n_estimators": [5, 50]}
OWN_RATE = {"max_depth": [3], "n_estimators": [5, 50]}


@pytest.mark.parametrize(
    ("name", "grid", "fixed", "fits"),
    [
        ("xgboost", ROUNDS, {}, 1),
        ("xgboost", ROUNDS, {"subsample": 0.5}, 2),
        ("lightgbm", ROUNDS, {"min_child_samples": 5}, 1),
        ("gradient_boosting", ROUNDS, {"n_iter_no_change": 2}, 2),
        ("catboost", OWN_RATE, {}, 2),
    ],
)
def test_only_independent_rounds_are_shared(
    name: str, grid: dict[str, Any], fixed: dict[str, Any], fits: int
) -> None:
    _, fit = search(name, made(), grid, fixed=fixed)
    assert fit.fits == fits
    assert np.isfinite(losses(fit)).all()


def test_gradient_descent_follows_schedules() -> None:
    grid = {"learning_rate": ["constant", "invscaling"], "learning_rate_init": [0.01]}
    fixed = {"solver": "sgd", "early_stopping": True}
    _, fit = search("mlp", made(), grid, fixed=fixed)
    assert fit.fits == 2
    assert fit.trials[0].validation_loss != fit.trials[1].validation_loss


def test_two_seen_classes_are_a_binary_task_to_catboost() -> None:
    table, split = made("multiclass", 300)
    unseen = np.flatnonzero(table.truth == 2)
    fold = table.blind(unseen), split
    grid = {"learning_rate": [0.1], "max_depth": [3], "n_estimators": [20, 210]}
    _, fit = search("catboost", fold, grid)
    assert fit.fits == 2
