from __future__ import annotations

import numpy as np
import pytest

from npt.data.encoding import coded_features, one_hot_features, standardised, statistics
from npt.table import Column, Split, Table

COLUMNS = (
    Column("a", "continuous"),
    Column("b", "categorical", ("x", "y", "z")),
    Column("t", "continuous"),
)
VALUES = np.array([[1.0, 0, 10], [3, 1, 20], [np.nan, 2, 30], [5, np.nan, 1000]])
SPLIT = Split(0, np.array([0, 1]), np.array([2]), np.array([3]))


def test_features_use_all_rows_and_the_target_train_rows() -> None:
    known = statistics(Table.of(COLUMNS, VALUES, 2), SPLIT)
    assert known.centre.tolist() == [3, 0, 15]
    assert known.scale == pytest.approx([np.std([1, 3, 5]), 1, 5])
    assert statistics(Table.of(COLUMNS, VALUES, 2), SPLIT, transductive=False).centre[0] == 2


def test_a_test_target_changes_nothing() -> None:
    table = Table.of(COLUMNS, VALUES, 2)
    blind = table.blind(SPLIT.test)
    assert np.isnan(blind.truth[3])
    assert table.truth[3] == 1000
    one, two = statistics(table, SPLIT), statistics(blind, SPLIT)
    assert np.array_equal(one.centre, two.centre)
    assert np.array_equal(one_hot_features(table, one), one_hot_features(blind, two))


def test_a_constant_column_has_scale_one() -> None:
    values = np.column_stack([np.full(4, 0.1), VALUES[:, 1:]])
    table = Table.of(COLUMNS, values, 2)
    assert (standardised(table, statistics(table, SPLIT), 0) == 0).all()


def test_a_missing_cell_is_zeros_or_a_code_of_its_own() -> None:
    table = Table.of(COLUMNS, VALUES, 2)
    known = statistics(table, SPLIT)
    assert one_hot_features(table, known)[:, 1:].tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [0, 0, 0],
    ]
    assert one_hot_features(table, known)[2, 0] == 0
    coded = coded_features(table, known)
    assert (coded.categorical, coded.sizes) == ([1], [4])
    assert coded.values[:, 1].tolist() == [0, 1, 2, 3]
