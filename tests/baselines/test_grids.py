"""Grids: the paper's sizes, scikit-learn's order, and which custom ones are refused."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baselines import baselines
from baselines.baseline import Baseline
from baselines.grids import BaselineSettings, size_of
from baselines.search import Search
from baselines.training_data import training_data
from npt.data.encoding import statistics
from npt.errors import Infeasible, UserError
from npt.interface import Resources
from npt.table import Task
from npt.validation import validated
from tests.conftest import first_split, make_table

SIZES = {720: "small", 21_883: "medium", 174_582: "medium", 406_707: "large"}


def configurations(
    baseline: Baseline, grid: Any, task: Task, train_rows: int = 100
) -> list[dict[str, Any]]:
    settings = BaselineSettings(grid=grid)
    return baseline.configurations(settings, task, train_rows)


@pytest.mark.parametrize(
    ("name", "medium", "large"), [("knn", 40, 40), ("mlp", 270, 270), ("tabnet", 7, 7)]
)
def test_larger_tables_have_smaller_grids(name: str, medium: int, large: int) -> None:
    baseline = baselines()[name]
    assert len(configurations(baseline, "paper", "binary", 50_000)) == medium
    assert len(configurations(baseline, "paper", "binary", 500_000)) == large


def test_sizes_of_the_papers_tables() -> None:
    assert {rows: size_of(rows) for rows in SIZES} == SIZES


@pytest.mark.parametrize(
    ("name", "task", "size", "models", "fits"),
    [
        ("random_forest", "binary", 24, 16, 4),
        ("random_forest", "regression", 24, 24, 6),
        ("gradient_boosting", "binary", 48, 48, 12),
        ("xgboost", "binary", 48, 48, 12),
        ("lightgbm", "regression", 48, 48, 12),
        ("catboost", "multiclass", 48, 48, 12),
        ("knn", "regression", 480, 40, 2),
        ("mlp", "binary", 11_340, 3_780, 3_780),
        ("tabnet", "regression", 48, 48, 48),
        ("deep_kernel_learning", "regression", 16, 16, 16),
    ],
)
def test_numbers_of_configurations_models_and_fits(
    name: str, task: Task, size: int, models: int, fits: int
) -> None:
    baseline = baselines()[name]
    table = make_table(task)
    split = first_split(table)
    known = statistics(table, split)
    data = training_data(table, split, known, codes=baseline.embeds_categories)
    data = replace(data, features=np.zeros((60, 8)))
    paper = configurations(baseline, "paper", task)
    different_models = set()
    different_fits = set()
    for point in paper:
        parameters = {**baseline.defaults, **point}
        effective = dict(baseline.effective_parameters(parameters, data))
        different_models.add(frozenset(map(str, effective.items())))
        for name in baseline.shared_parameters(parameters):
            del effective[name]
        different_fits.add(frozenset(map(str, effective.items())))
    assert (len(paper), len(different_models), len(different_fits)) == (size, models, fits)
    quick = configurations(baseline, "quick", task)
    assert 0 < len(quick) <= 20
    assert all(point in paper for point in quick)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"grid": "fast"}, "knn.grid"),
        ({"grid": {"p": 1}}, "knn.grid"),
        ({"budget": 0}, "knn.budget"),
        ({"minutes": 5}, "minutes"),
        ({"grid": {}}, "knn.grid: "),
        ({"grid": {"neighbors": [1]}}, "knn.grid.neighbors"),
        ({"grid": {"p": []}}, "knn.grid.p"),
        ({"grid": {"p": [1] * 400, "n_neighbors": [1] * 400}}, "knn.grid: 160000"),
        ({"grid": {"p": ["1e-3"]}}, "knn.grid.p"),
        ({"fixed": {"p": 1}}, "knn.fixed.p"),
        ({"grid": {"weights": ["distanc"]}}, "knn.grid.weights"),
        ({"grid": {"p": [math.inf]}}, "knn.grid.p"),
        ({"grid": {"p": [0]}}, "knn.grid.p"),
        ({"grid": {"n_neighbors": [0]}}, "knn.grid.n_neighbors"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], key: str) -> None:
    baseline = baselines()["knn"]
    with pytest.raises(UserError, match=key):
        settings = validated(BaselineSettings, changes, "knn")
        baseline.grids(settings, "binary", 10)


@pytest.mark.parametrize(
    ("name", "parameter", "good", "bad"),
    [
        ("catboost", "max_depth", [2, 16], ["deep", None, 0, -1, 0.5, True, [3]]),
        ("lightgbm", "learning_rate", [1, 0.5], ["high", None, -0.1, True]),
        ("random_forest", "max_features", [0.5, 1, "log2"], ["deep", None, -1]),
        ("mlp", "hidden_layer_sizes", [[7, 7]], [7, "wide"]),
        ("modern_nca", "blocks", [0, 4], [-1, 1.5]),
    ],
)
def test_values_of_a_grid_are_like_those_of_the_paper(
    name: str, parameter: str, good: list[Any], bad: list[Any]
) -> None:
    baseline = baselines()[name]
    configurations(baseline, {parameter: good}, "binary")
    for value in bad:
        with pytest.raises(UserError, match=f"{name}.grid.{parameter}"):
            configurations(baseline, {parameter: [value]}, "binary")


def test_grids_of_any_size_are_in_the_order_of_scikit_learn() -> None:
    grid = {"p": [1, 2], "n_neighbors": [1, 2], "algorithm": ["brute"]}
    points = configurations(baselines()["knn"], grid, "binary", 1_000_000)
    values = [(point["n_neighbors"], point["p"]) for point in points]
    assert values == list(itertools.product([1, 2], [1, 2]))


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_parameters_of_another_task_are_left_out(task: Task) -> None:
    """Ridge regression has `alpha`, and logistic regression `C`."""
    name = "alpha" if task == "regression" else "C"
    grid = {"alpha": [2.0, 3.0], "C": [2.0, 3.0]}
    assert configurations(baselines()["linear"], grid, task) == [{name: 2.0}, {name: 3.0}]
    table = make_table(task)
    split = first_split(table)
    data = training_data(table, split, statistics(table, split), codes=False)
    settings = BaselineSettings(fixed={"alpha": 2.0, "C": 2.0})
    search = Search(baselines()["linear"], data, settings, 0, Resources())
    assert search.run([{}]).parameters == {"max_iter": 10_000, name: 2.0}
    del grid[name]
    with pytest.raises(Infeasible, match=f"no parameter for {task}"):
        configurations(baselines()["linear"], grid, task)
