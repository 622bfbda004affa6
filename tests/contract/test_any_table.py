"""Whatever a table is made of, every method trains on it and predicts what can be scored."""

from __future__ import annotations

import warnings
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from baselines import methods
from npt.data.declaration import SplitRule
from npt.data.splits import splits
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.table import TASKS, Column, Table, Task

QUICK = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
NATIVE = ("xgboost", "lightgbm", "catboost")


@st.composite
def tables(draw: st.DrawFn, task: Task) -> Table:
    """24 to 48 rows and 1 to 5 features of either kind with missing cells, some without any cell, constant or enormous."""
    rows = draw(st.integers(24, 48))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns, cells = [], []
    for j in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            levels = draw(st.integers(1, 7))
            columns.append(Column(f"c{j}", "categorical", tuple(map(str, range(levels)))))
            values = generator.integers(0, levels, rows).astype(float)
        else:
            columns.append(Column(f"n{j}", "continuous"))
            values = generator.normal(size=rows) * draw(
                st.sampled_from([0.0, 1e-12, 1.0, 1e9])
            ) + draw(st.sampled_from([0.0, -1e6, 0.5]))
        values[generator.random(rows) < draw(st.sampled_from([0.0, 0.2, 1.0]))] = np.nan
        cells.append(values)
    if task == "regression":
        columns.append(Column("y", "continuous"))
        target = generator.normal(size=rows) * draw(st.sampled_from([1e-6, 1.0, 1e6]))
    else:
        classes = 2 if task == "binary" else draw(st.integers(3, 5))
        columns.append(Column("y", "categorical", tuple(map(str, range(classes)))))
        target = generator.integers(0, classes, rows).astype(float)
        target[: 2 * classes] = np.repeat(np.arange(classes), 2)
    target[generator.random(rows) < draw(st.sampled_from([0.0, 0.1]))] = np.nan
    return Table.of(columns, np.column_stack([*cells, target]), len(cells))


@pytest.mark.parametrize(
    ("name", "task"),
    [
        (name, task)
        for name in sorted(methods())
        for task in TASKS
        if not methods()[name].supports(task)
    ],
)
def test_any_mixture_of_columns_is_learnt_and_predicted(name: str, task: Task) -> None:
    method = methods()[name]

    @QUICK
    @given(table=tables(task), native=st.booleans())
    def check(table: Table, native: bool) -> None:
        split = splits(table, SplitRule(folds=4, used=1))[0]
        known = table.truth[split.train]
        assume(
            len(np.unique(known[~np.isnan(known)])) > 1
            and not np.isnan(table.truth[split.validation]).all()
        )
        if name == "tabnet":
            # Rows that repeat have no variance within a virtual batch, and TabNet diverges, which is a reason in the results.
            features = np.nan_to_num(np.delete(table.values, table.target, axis=1), nan=-1)
            assume(len(np.unique(features, axis=0)) > table.rows / 2)
        changes = dict(method.test_settings)
        if native and name in NATIVE:
            changes |= {"native_categories": True, "native_missing": True}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = evaluate(method.build(method.settings(**changes), Resources()), table, split, 0)
        assert result.status == "ok", result.reason
        for part, prediction in result.predictions.items():
            rows = len(getattr(split, part))
            assert prediction.values.shape == (
                (rows,) if task == "regression" else (rows, table.columns[table.target].size)
            )
            assert np.isfinite(prediction.values).all()
            if task != "regression":
                assert prediction.values.sum(1) == pytest.approx(np.ones(rows), abs=1e-5)
                assert (prediction.values >= 0).all()

    check()
