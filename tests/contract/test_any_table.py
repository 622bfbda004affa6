"""Whatever a table is made of, every method trains on it and predicts what can be scored."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from baselines import baselines
from npt.data.declaration import SplitRule
from npt.data.splits import splits
from npt.evaluation import Evaluation, evaluate
from npt.interface import Resources
from npt.method import Method
from npt.table import Column, Split, Table, Task
from tests.contract.test_methods import CASES


def hostile_table(task: Task, rows: int, target_scale: float) -> Table:
    """Empty, constant, tiny and huge numbers, and levels that are missing, single or many."""
    draws = np.random.default_rng(0)
    numbers = draws.normal(size=rows)
    gaps = np.where(draws.random(rows) < 0.2, np.nan, 0.0)
    columns = {
        "empty": np.full(rows, np.nan),
        "constant": np.full(rows, 0.5),
        "tiny": 1e-12 * numbers,
        "huge": 1e9 * draws.normal(size=rows) + gaps,
        "far": draws.normal(size=rows) - 1e6 + gaps,
    }
    levels = {"without_levels": np.full(rows, np.nan), "one_level": np.zeros(rows)}
    levels["seven_levels"] = draws.integers(0, 7, rows) + gaps
    declared = [Column(name, "continuous") for name in columns]
    declared += [categorical("without_levels", 2), categorical("one_level", 1)]
    declared.append(categorical("seven_levels", 7))
    return with_target(declared, [*columns.values(), *levels.values()], task, target_scale)


def narrow_table(task: Task, rows: int) -> Table:
    """A single feature, of two levels: most rows are equal."""
    return with_target([categorical("c", 2)], [np.arange(rows) % 2], task, 1.0)


def with_target(columns: list[Column], cells: list[np.ndarray], task: Task, scale: float) -> Table:
    """The table with a last column that some rows lack."""
    rows = len(cells[0])
    draws = np.random.default_rng(1)
    if task == "regression":
        column = Column("y", "continuous")
        target = scale * draws.normal(size=rows)
    else:
        classes = 2 if task == "binary" else 4
        column = categorical("y", classes)
        target = draws.permutation(np.arange(rows) % classes).astype(float)
    target[draws.permutation(rows)[: rows // 10]] = np.nan
    return Table.from_values([*columns, column], np.column_stack([*cells, target]), len(cells))


def categorical(name: str, levels: int) -> Column:
    return Column(name, "categorical", tuple(str(level) for level in range(levels)))


def evaluated(method: Method, table: Table, split: Split, native: bool) -> Evaluation:
    changes = dict(method.test_settings)
    baseline = baselines().get(method.name)
    if native and baseline is not None and baseline.takes_missing:
        changes |= {"native_categories": True, "native_missing": True}
    learner = method.build(method.settings(**changes), Resources())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluate(learner, table, split, 0)


def check_predictions(evaluation: Evaluation, table: Table, split: Split) -> None:
    assert evaluation.status == "ok", evaluation.reason
    for part, prediction in evaluation.predictions.items():
        values = prediction.values
        rows = len(split.rows(part))
        assert np.isfinite(values).all()
        if table.task == "regression":
            assert values.shape == (rows,)
        else:
            assert values.shape == (rows, table.columns[table.target].size)
            assert values.sum(1) == pytest.approx(np.ones(rows), abs=1e-5)
            assert (values >= 0).all()


@pytest.mark.parametrize(("method", "task"), CASES)
def test_hostile_columns_are_learned(method: Method, task: Task) -> None:
    for rows, scale, native in ((48, 1e6, True), (25, 1e-6, False)):
        table = hostile_table(task, rows, scale)
        split = splits(table, SplitRule(folds=4, used=1))[0]
        check_predictions(evaluated(method, table, split, native), table, split)


@pytest.mark.parametrize(("method", "task"), CASES)
def test_equal_rows_are_learned(method: Method, task: Task) -> None:
    if method.name == "tabnet":
        pytest.skip("diverges on equal rows within a virtual batch")
    table = narrow_table(task, 32)
    split = splits(table, SplitRule(folds=4, used=1))[0]
    check_predictions(evaluated(method, table, split, native=False), table, split)
