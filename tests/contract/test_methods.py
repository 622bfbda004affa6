"""Every registered method keeps the contract on every task: shapes, determinism, blindness."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from baselines import methods
from baselines.search import BaselineSettings
from npt.evaluation import evaluate
from npt.interface import Method, Resources
from npt.table import TASKS, Task
from tests.conftest import SMALL_NPT, first_split, make_table

CASES = [
    pytest.param(method, task, id=f"{name}-{task}")
    for name, method in methods().items()
    for task in TASKS
    if not method.supports(task)
]


def small(method: Method) -> Any:
    if method.name == "npt":
        return SMALL_NPT
    if method.name == "knn":
        return BaselineSettings({"n_neighbors": [2, 5]})
    return BaselineSettings(
        "quick", {"max_epochs": 3} if method.name in ("tabnet", "deep_kernel_learning") else {}
    )


def predictions(
    method: Method, table: Any, seed: int = 1
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    result = evaluate(
        method.build(small(method), Resources()),
        table,
        first_split(make_table(table.task, 120)),
        seed,
    )
    assert result.status == "ok", result.reason
    return (
        result.predictions["validation"].values,
        result.predictions["test"].values,
        dict(result.metrics),
    )


@pytest.mark.parametrize(("method", "task"), CASES)
def test_shapes_determinism_and_blindness(method: Method, task: Task) -> None:
    table = make_table(task, 120)
    split = first_split(table)
    validation, test, metrics = predictions(method, table)
    classes = table.columns[table.target].size
    for predicted, rows in ((validation, split.validation), (test, split.test)):
        assert predicted.shape == ((len(rows),) if task == "regression" else (len(rows), classes))
        assert np.isfinite(predicted).all()
        if task != "regression":
            assert predicted.sum(1) == pytest.approx(np.ones(len(rows)))
    assert {name.partition("_")[0] for name in metrics} == {"validation", "test"}

    # Other test targets: the same predictions to the last bit, other metrics.
    changed = make_table(task, 120)
    truth = changed.truth
    truth[split.test] = (
        truth[split.test] + 100 if task == "regression" else (truth[split.test] + 1) % classes
    )
    changed = changed.with_numbers(changed.target, truth)
    validation_again, test_again, metrics_again = predictions(method, changed)
    assert np.array_equal(validation, validation_again)
    assert np.array_equal(test, test_again)
    assert {k: v for k, v in metrics.items() if "test" in k} != {
        k: v for k, v in metrics_again.items() if "test" in k
    }


@pytest.mark.parametrize(
    "method", [m for m in methods().values() if m.name in ("npt", "mlp", "tabnet", "random_forest")]
)
def test_a_seed_matters(method: Method) -> None:
    table = make_table("regression", 120)
    assert not np.array_equal(predictions(method, table, 1)[1], predictions(method, table, 2)[1])


def test_the_paper_s_ten_methods_and_a_linear_one_are_registered() -> None:
    titles = "Linear, NPT, DKL, CatBoost, Gradient Boosting, k-NN, LightGBM, MLP, Random Forest, TabNet, XGBoost"
    assert sorted(m.title for m in methods().values()) == sorted(titles.split(", "))
