"""Baselines take the threads and the device that they are given, and categories as such only where they are told to."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from baselines import methods
from baselines.declaration import Baseline, BaselineSettings
from baselines.search import SearchLearner
from npt.interface import Infeasible, Resources, UserError
from npt.table import Table, Task
from tests.conftest import first_split, make_table

NAMES = [name for name, method in methods().items() if method.searches]
TASKS_OF = [
    pytest.param(name, task, id=f"{name}-{task}")
    for name in NAMES
    for task in ("multiclass", "regression")
    if not methods()[name].supports(task)
]
NATIVE = ["catboost", "lightgbm", "xgboost"]
GRIDS = {"knn": {"n_neighbors": [2, 5]}, "random_forest": {"n_estimators": [50]}}
MEASURE = """
import os, sys, threading, time
from tests.baselines.test_resources import fitted

fitted(sys.argv[1], "regression", 1)  # loads the libraries
most, done = 0, False
def watch():
    global most
    while not done:
        most = max(most, len(os.listdir("/proc/self/task")))
        time.sleep(0.001)
before = len(os.listdir("/proc/self/task"))
watcher = threading.Thread(target=watch)
watcher.start()
fitted(sys.argv[1], "regression", int(sys.argv[2]))
done = True
watcher.join()
print(most - before - 1)
"""


def fitted(
    name: str,
    task: Task,
    threads: int = 1,
    device: str = "auto",
    table: Table | None = None,
    **more: Any,
) -> np.ndarray:
    """Test predictions of a baseline with its quick grid."""
    table = table or make_table(task, 150)
    split = first_split(table)
    fixed = {"max_epochs": 3} if name in ("tabnet", "deep_kernel_learning") else {}
    settings = BaselineSettings(GRIDS.get(name, "quick"), fixed, **more)
    learner = methods()[name].build(settings, Resources(threads, device))
    learner.fit(table.blind(split.test), split, 0)
    return learner.predict(split.test).values


@pytest.mark.parametrize(("name", "task"), TASKS_OF)
def test_the_number_of_threads_changes_no_prediction(name: str, task: Task) -> None:
    one, two = fitted(name, task, 1), fitted(name, task, 2)
    if name in (
        "mlp",
        "tabnet",
        "deep_kernel_learning",
    ):  # sums of the linear algebra libraries depend on their threads
        assert one == pytest.approx(two, rel=1e-3, abs=1e-3)
    else:
        assert np.array_equal(one, two)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads under /proc")
@pytest.mark.parametrize("name", NAMES)
def test_a_fit_starts_no_more_threads_than_it_is_given(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, name, "1"],
        capture_output=True,
        text=True,
        check=True,
        env=_free(),
    )
    own = (
        1 if name == "catboost" else 0
    )  # CatBoost computes on a thread of its own while the caller waits
    assert int(done.stdout.split()[-1]) <= own


def test_libraries_that_know_no_threads_are_held_to_them() -> None:
    seen: list[int] = []

    def fit(data, configurations, seed, resources):  # type: ignore[no-untyped-def]
        seen.extend(pool["num_threads"] for pool in threadpool_info())
        return lambda features, wanted: [np.zeros(len(features)) for _ in wanted]

    grid = {"i": [0]}
    baseline = Baseline("toy", "Toy", fit, lambda task: grid, lambda task, size: grid)
    table = make_table("regression")
    SearchLearner(baseline, BaselineSettings(), Resources(1)).fit(table, first_split(table), 0)
    assert seen
    assert set(seen) == {1}


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_categories_are_given_as_such_only_on_demand(name: str, task: Task) -> None:
    table = make_table(task, 800)
    holes = table.hide(
        slice(None, None, 7), [column.name for column in table.columns].index("color")
    )
    for one in (table, holes):
        plain, native = (
            fitted(name, task, table=one),
            fitted(name, task, table=one, native_categories=True),
        )
        assert np.isfinite(native).all()
        assert not np.array_equal(plain, native)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost"])
def test_missing_numbers_are_given_as_such_only_on_demand(name: str) -> None:
    table = make_table("regression", 800)
    holes = table.hide(slice(None, None, 3), 0)
    default, native = (
        fitted(name, "regression", table=holes),
        fitted(name, "regression", table=holes, native_missing=True),
    )
    assert np.isfinite(native).all()
    assert not np.array_equal(default, native)
    whole = table.with_numbers(2, np.nan_to_num(table.numbers(2)))
    assert np.array_equal(
        fitted(name, "regression", table=whole),
        fitted(name, "regression", table=whole, native_missing=True),
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NATIVE])
def test_methods_that_take_no_missing_numbers_refuse_them(name: str) -> None:
    with pytest.raises(UserError, match=rf"{name}.native_missing: true is not allowed"):
        fitted(name, "regression", native_missing=True)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*NATIVE, "tabnet")])
def test_methods_that_take_numbers_alone_refuse_categories(name: str) -> None:
    with pytest.raises(UserError, match=rf"{name}.native_categories: true is not allowed"):
        fitted(name, "regression", native_categories=True)


@pytest.mark.parametrize("name", ["xgboost", "catboost", "tabnet", "deep_kernel_learning"])
def test_a_gpu_is_used_where_asked_and_never_by_default(name: str) -> None:
    import torch

    assert methods()[name].accelerated
    assert methods()[name].build(BaselineSettings(), Resources()).device == "cpu"  # type: ignore[attr-defined]
    assert methods()[name].build(BaselineSettings(), Resources(device="cuda")).device == "cuda"  # type: ignore[attr-defined]
    if not torch.cuda.is_available():
        with pytest.raises(UserError, match="device: cuda is not at hand"):
            fitted(name, "regression", device="cuda")
    elif name != "xgboost" or importlib.import_module("xgboost").build_info()["USE_CUDA"]:
        assert np.isfinite(fitted(name, "regression", device="cuda")).all()
    assert np.isfinite(fitted("knn", "regression", device="cuda")).all()  # has no use for one


@pytest.mark.parametrize(
    ("name", "argument"), [("xgboost", ("device", "cuda:1")), ("catboost", ("devices", "1"))]
)
def test_the_library_is_told_which_gpu(
    name: str, argument: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    library: Any = importlib.import_module(name)
    kind = {"xgboost": "XGBRegressor", "catboost": "CatBoostRegressor"}[name]

    class Refusing:
        def __init__(
            self, learning_rate: float, max_depth: int, n_estimators: int, **given: Any
        ) -> None:
            raise Infeasible(f"asked for {given[argument[0]]}")

    monkeypatch.setattr(library, kind, Refusing)
    monkeypatch.setattr(library, "build_info", lambda: {"USE_CUDA": True}, raising=False)
    monkeypatch.setattr("npt.nn.device.device_of", lambda device: device)
    with pytest.raises(Infeasible, match=f"asked for {argument[1]}"):
        fitted(name, "regression", device="cuda:1")


def test_a_build_of_xgboost_without_cuda_is_not_asked_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("xgboost.build_info", lambda: {"USE_CUDA": False})
    monkeypatch.setattr("npt.nn.device.device_of", lambda device: device)
    with pytest.raises(UserError, match="device: cuda is not for xgboost-cpu"):
        fitted("xgboost", "regression", device="cuda")


def _free() -> dict[str, str]:
    """This environment without what already holds libraries to one thread."""
    return {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
