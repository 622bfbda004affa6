"""Features and targets that baselines are fitted to."""

from __future__ import annotations

import numpy as np
import pytest

from baselines.training_data import TrainingData, training_data
from npt.table import Table
from tests.conftest import first_split, make_table

TABLE = make_table("regression", 100)
SPLIT = first_split(TABLE)
COMPLETE = [0, 1]  # continuous columns without missing numbers


def with_far_test_row() -> Table:
    """The table with one test row far from all others."""
    table = TABLE
    for j in COMPLETE:
        numbers = table.numbers(j)
        numbers[SPLIT.test[0]] += 50
        table = table.with_numbers(j, numbers)
    return table


def encoded(table: Table, *, codes: bool, transductive: bool) -> TrainingData:
    return training_data(table, SPLIT, codes=codes, transductive=transductive)


@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("transductive", [True, False])
def test_features_are_standardised_over_the_rows_of_setting(
    codes: bool, transductive: bool
) -> None:
    features = encoded(TABLE, codes=codes, transductive=transductive).features[:, COMPLETE]
    rows = slice(None) if transductive else SPLIT.train
    assert np.allclose(features[rows].mean(0), 0, atol=1e-12)
    assert np.allclose(features[rows].std(0), 1)


@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("transductive", [True, False])
def test_a_test_row_changes_only_transductive_train_features(
    codes: bool, transductive: bool
) -> None:
    before = encoded(TABLE, codes=codes, transductive=transductive)
    after = encoded(with_far_test_row(), codes=codes, transductive=transductive)
    same = np.array_equal(before.train_features, after.train_features)
    assert same != transductive
    assert np.array_equal(before.train_labels, after.train_labels)
