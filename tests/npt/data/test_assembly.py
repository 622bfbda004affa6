"""Frames to a table, and a table to numbers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from npt.data.assembly import assemble
from npt.data.datasets import synthetic
from npt.data.encoding import coded_features, one_hot_features, standardised, statistics
from npt.errors import UserError
from npt.table import Column, Split, Table

REGRESSION = {"task": "regression", "categorical": ("color", "shape"), "class_counts": ()}


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"rows": 121}, "synthetic: rows"),
        ({"columns": 7}, "synthetic: columns"),
        ({"class_counts": (1, 119)}, "synthetic: class counts"),
        ({"target": "z"}, "'z'"),
        ({"categorical": ("y",)}, "'color'"),
        ({**REGRESSION, "target_sigma": 1.0}, "synthetic: target deviation"),
    ],
)
def test_a_fact_that_is_not_the_declared_one(changes: dict[str, Any], fact: str) -> None:
    declared = replace(synthetic.DATASET, **changes)
    with pytest.raises(UserError, match=fact):
        assemble(synthetic.frame(declared.task), declared)


def test_parts_give_the_table_of_the_whole() -> None:
    frame = synthetic.frame("multiclass", 90)
    declared = replace(synthetic.DATASET, task="multiclass", rows=90, class_counts=())
    whole = assemble(frame, declared)
    frames = (frame.iloc[start : start + 7] for start in range(0, 90, 7))
    parts = assemble(frames, declared)
    assert parts.columns == whole.columns
    for cells, expected in zip(parts.cells, whole.cells, strict=True):
        assert cells.dtype == expected.dtype
        assert np.array_equal(cells, expected, equal_nan=cells.dtype.kind == "f")


COLUMNS = (
    Column("a", "continuous"),
    Column("b", "categorical", ("x", "y", "z")),
    Column("t", "continuous"),
)
VALUES = np.array([[1.0, 0, 10], [3, 1, 20], [np.nan, 2, 30], [5, np.nan, 1000]])
SPLIT = Split(0, np.array([0, 1]), np.array([2]), np.array([3]))


@pytest.fixture
def small() -> Table:
    return Table.of(COLUMNS, VALUES, 2)


def test_features_use_all_rows_and_the_target_train_rows(small: Table) -> None:
    known = statistics(small, SPLIT)
    assert known.centre.tolist() == [3, 0, 15]
    assert known.scale == pytest.approx([np.std([1, 3, 5]), 1, 5])
    inductive = statistics(small, SPLIT, transductive=False)
    assert inductive.centre[0] == 2


def test_a_test_target_changes_nothing(small: Table) -> None:
    known = statistics(small, SPLIT)
    blind = statistics(small.blind(SPLIT.test), SPLIT)
    assert np.array_equal(known.centre, blind.centre)
    assert np.array_equal(known.scale, blind.scale)


def test_a_constant_column_has_scale_one() -> None:
    values = VALUES.copy()
    values[:, 0] = 0.1
    table = Table.of(COLUMNS, values, 2)
    known = statistics(table, SPLIT)
    assert (standardised(table, known, 0) == 0).all()


def test_one_hot_codes_of_missing_cells_are_zeros(small: Table) -> None:
    encoded = one_hot_features(small, statistics(small, SPLIT))
    assert np.array_equal(encoded[:, 1:], np.eye(4, 3))
    assert encoded[2, 0] == 0


def test_a_missing_category_is_one_more_code(small: Table) -> None:
    coded = coded_features(small, statistics(small, SPLIT))
    assert coded.categorical == [1]
    assert coded.sizes == [4]
    assert coded.values[:, 1].tolist() == [0, 1, 2, 3]
