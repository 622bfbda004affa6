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
VALUES = np.array(
    [
        [1.0, 0, 10],
        [3, 1, 20],
        [np.nan, 2, 30],
        [5, np.nan, 1000],
    ]
)
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
