"""Baselines use the threads and the device of their resources, and native inputs only if set."""

import importlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from baselines import baselines
from baselines.grids import BaselineSettings, Parameters
from baselines.tuned import TunedBaseline
from npt.errors import Infeasible, UserError
from npt.interface import Resources
from npt.table import Table, Task
from tests.baselines.toy import Toy, tuned
from tests.conftest import first_split, make_table

NAMES = list(baselines())
TASKS: tuple[Task, ...] = ("multiclass", "regression")
CASES = [(name, task) for name in NAMES for task in TASKS if not baselines()[name].supports(task)]
TAKES_MISSING = [name for name in NAMES if baselines()[name].takes_missing]
TAKES_CATEGORIES = [name for name in NAMES if baselines()[name].takes_categories]
NETWORKS = ("anp", "deep_kernel_learning", "mlp", "modern_nca", "realmlp", "tabm", "tabnet", "tabr")
SUMS_DEPEND_ON_THREADS = (*NETWORKS, "gaussian_process", "npt_solved")
ROUNDING = 1e-3  # change of a prediction that another order of sums may cause
ROUNDING_OF = {"modern_nca": 0.01, "gaussian_process": 1e-6, "npt_solved": 1e-4}
WITH_POOLS = ("knn", "lightgbm", "mlp", "random_forest", "tabnet", "xgboost")
MEASURE_THREADS = """
import os, threading
from tests.baselines.test_resources import WITH_POOLS, predictions

def count():
    return len(os.listdir("/proc/self/task"))

def watch():
    while not done.wait(0.002):
        counts.append(count())

predictions("anp", "regression")  # torch starts threads of its own, once
for name in WITH_POOLS:
    counts = [count()]
    done = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    predictions(name, "regression")
    done.set()
    watcher.join()
    print(max(counts) - counts[0] - 1)
"""


def predictions(
    name: str,
    task: Task,
    resources: Resources | None = None,
    table: Table | None = None,
    **changes: Any,
) -> np.ndarray:
    """Test predictions of a baseline with its test settings."""
    table = table or make_table(task, 150)
    split = first_split(table)
    settings = {**baselines()[name].test_settings, **changes}
    if name == "tabnet":  # its test settings normalise by four rows, which any rounding moves
        settings = {**settings, "grid": "quick"}
    chosen = BaselineSettings(**settings)
    learner = TunedBaseline(baselines()[name], chosen, resources or Resources())
    learner.fit(table.blind(split.test), split, 0)
    return learner.predict(split.test).values


@pytest.mark.parametrize(("name", "task"), CASES)
def test_the_number_of_threads_changes_no_prediction(name: str, task: Task) -> None:
    serial = predictions(name, task, Resources(1))
    parallel = predictions(name, task, Resources(2))
    if name in SUMS_DEPEND_ON_THREADS:
        rounding = ROUNDING_OF.get(name, ROUNDING)
        assert serial == pytest.approx(parallel, rel=rounding, abs=rounding)
    else:
        assert np.array_equal(serial, parallel)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads under /proc")
def test_a_fit_starts_no_more_threads_than_allowed() -> None:
    limits = [key for key in os.environ if key.endswith("_NUM_THREADS")]
    environment = {key: value for key, value in os.environ.items() if key not in limits}
    command = [sys.executable, "-c", MEASURE_THREADS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    started = [int(count) for count in done.stdout.split()]
    assert len(started) == len(WITH_POOLS)
    assert max(started) <= 0


def test_thread_pools_of_libraries_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int] = []

    def predict(self: Toy, features: np.ndarray, parameters: Parameters) -> np.ndarray:
        limits.extend(pool["num_threads"] for pool in threadpool_info())
        return np.zeros(len(features))

    monkeypatch.setattr(Toy, "predict", predict)
    tuned(Toy([0.0]))
    assert set(limits) == {1}


@pytest.mark.parametrize("name", TAKES_MISSING)
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_native_categories_change_predictions(name: str, task: Task) -> None:
    table = make_table(task, 800)
    names = [column.name for column in table.columns]
    table = table.hide(slice(None, None, 7), names.index("color"))
    rounds = {"n_estimators": [30]}
    plain = predictions(name, task, table=table, grid=rounds)
    native = predictions(name, task, table=table, grid=rounds, native_categories=True)
    assert np.isfinite(native).all()
    assert not np.array_equal(plain, native)


@pytest.mark.parametrize("has_holes", [False, True])
@pytest.mark.parametrize("name", TAKES_MISSING)
def test_native_missing_matters_where_numbers_are_missing(name: str, has_holes: bool) -> None:
    table = make_table("regression", 800)
    table = table.with_numbers(2, np.nan_to_num(table.numbers(2)))
    if has_holes:
        table = table.hide(slice(None, None, 3), 0)
    default = predictions(name, "regression", table=table)
    native = predictions(name, "regression", table=table, native_missing=True)
    assert np.isfinite(native).all()
    assert np.array_equal(default, native) != has_holes


@pytest.mark.parametrize("name", NAMES)
def test_native_inputs_are_refused_where_they_cannot_be_taken(name: str) -> None:
    for key, able in (("native_missing", TAKES_MISSING), ("native_categories", TAKES_CATEGORIES)):
        if name not in able:
            with pytest.raises(UserError, match=rf"{name}\.{key}"):
                predictions(name, "regression", **{key: True})


@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_fits_or_is_refused_where_it_can_be_used(name: str) -> None:
    import torch

    resources = Resources(device="cuda")
    task = "multiclass" if baselines()[name].supports("regression") else "regression"
    if baselines()[name].accelerated and not torch.cuda.is_available():
        with pytest.raises(UserError, match="device: cuda"):
            predictions(name, task, resources)
    elif name != "xgboost" or importlib.import_module("xgboost").build_info()["USE_CUDA"]:
        assert np.isfinite(predictions(name, task, resources)).all()


@pytest.mark.parametrize(
    ("name", "estimator", "parameter", "value"),
    [
        ("xgboost", "XGBRegressor", "device", "cuda:1"),
        ("catboost", "CatBoostRegressor", "devices", "1"),
    ],
)
def test_the_library_receives_the_index_of_the_gpu(
    name: str, estimator: str, parameter: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing:
        def __init__(self, n_estimators: int, **others: Any) -> None:
            raise Infeasible(f"received {others[parameter]}")

    library: Any = importlib.import_module(name)
    monkeypatch.setattr(library, estimator, Refusing)
    monkeypatch.setattr(library, "build_info", lambda: {"USE_CUDA": True}, raising=False)
    monkeypatch.setattr("npt.nn.device.device_of", lambda device: device)
    with pytest.raises(Infeasible, match=f"received {value}"):
        predictions(name, "regression", Resources(device="cuda:1"))


def test_a_build_of_xgboost_without_cuda_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xgboost.build_info", lambda: {"USE_CUDA": False})
    monkeypatch.setattr("npt.nn.device.device_of", lambda device: device)
    with pytest.raises(UserError, match="device: cuda"):
        predictions("xgboost", "regression", Resources(device="cuda"))
