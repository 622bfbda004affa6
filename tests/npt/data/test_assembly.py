"""Tables: from frames, as numbers, on disk."""

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from baselines.training_data import training_data
from npt.data import store
from npt.data.assembly import assemble
from npt.data.datasets import datasets, synthetic
from npt.data.declaration import SplitRule
from npt.data.encoding import centre_and_scale, coded_features, one_hot_features, statistics
from npt.data.preparation import prepare_declared
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


def test_text_among_numbers_is_refused() -> None:
    frame = synthetic.frame("regression").assign(x0="a")
    with pytest.raises(UserError, match="synthetic: column 'x0' holds text"):
        assemble(frame, synthetic.DATASET)


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
    return Table.from_values(COLUMNS, VALUES, 2)


def test_features_use_all_rows_and_the_target_train_rows(small: Table) -> None:
    known = statistics(small, SPLIT)
    assert known.centre.tolist() == [3, 0, 15]
    assert known.scale == pytest.approx([np.std([1, 3, 5]), 1, 5])
    inductive = statistics(small, SPLIT, transductive=False)
    assert inductive.centre[0] == 2


def test_a_constant_column_has_scale_one() -> None:
    """Whatever the rounding of their mean."""
    table = Table.from_values(COLUMNS, np.tile([0.03, 0, 1], (9, 1)), 2)
    known = statistics(table, SPLIT)
    assert known.scale[0] == 1
    assert (known.standardised(table.numbers(0), 0) == 0).all()


def test_tiny_numbers_have_their_scale() -> None:
    numbers = np.array([1.0, 2, 4])
    expected = [1e-200 * numbers.mean(), 1e-200 * numbers.std()]
    assert centre_and_scale(1e-200 * numbers) == pytest.approx(expected, rel=1e-9, abs=0)


def test_one_hot_codes_of_missing_cells_are_zeros(small: Table) -> None:
    encoded = one_hot_features(small, statistics(small, SPLIT))
    assert np.array_equal(encoded[:, 1:], np.eye(4, 3))
    assert encoded[2, 0] == 0


@pytest.mark.parametrize("encode", [one_hot_features, coded_features])
def test_missing_numbers_can_stay_missing(encode: Callable[..., np.ndarray], small: Table) -> None:
    encoded = encode(small, statistics(small, SPLIT), missing=np.nan)
    assert np.isnan(encoded).nonzero()[0].tolist() == [2]


def test_a_missing_category_is_one_more_code(small: Table) -> None:
    coded = coded_features(small, statistics(small, SPLIT))
    assert coded[:, 1].tolist() == [0, 1, 2, 3]
    data = training_data(small, SPLIT, statistics(small, SPLIT), codes=True)
    assert data.categorical == {1: 4}


def test_a_declaration_has_no_times(tmp_path: Path) -> None:
    declared = replace(synthetic.DATASET, split_rule=SplitRule(by_time=True))
    with pytest.raises(UserError, match="synthetic: by_time"):
        prepare_declared(declared, tmp_path)


@pytest.fixture
def prepared(tmp_path: Path) -> store.Prepared:
    return prepare_declared(datasets()["synthetic"], tmp_path)


@pytest.fixture
def path(tmp_path: Path, prepared: store.Prepared) -> Path:
    """Where a prepared dataset is saved."""
    path = tmp_path / "one.arrow"
    store.save(path, prepared)
    return path


def require_equal(loaded: store.Prepared, expected: store.Prepared) -> None:
    assert np.array_equal(loaded.table.values, expected.table.values, equal_nan=True)
    assert loaded.table.columns == expected.table.columns
    assert loaded.facts == expected.facts


def test_a_prepared_dataset_survives_the_disk(path: Path, prepared: store.Prepared) -> None:
    loaded = store.load(path)
    require_equal(loaded, prepared)
    assert loaded.table.groups is None
    for fold, split in prepared.splits.items():
        assert np.array_equal(loaded.splits[fold].part(), split.part())


def test_rows_of_a_table_keep_their_groups(prepared: store.Prepared) -> None:
    groups = np.arange(prepared.table.rows) // 7
    table = replace(prepared.table, groups=groups)
    rows = np.array([3, 50, 9])
    assert np.array_equal(table.take(rows).groups, groups[rows])
    assert np.array_equal(table.blind(rows).groups, groups)
    assert table.followed_by(table).groups is None


def test_groups_survive_the_disk(path: Path, prepared: store.Prepared) -> None:
    groups = np.arange(prepared.table.rows) // 7
    grouped = replace(prepared, table=replace(prepared.table, groups=groups))
    store.save(path, grouped)
    loaded = store.load(path)
    require_equal(loaded, prepared)
    assert np.array_equal(loaded.table.groups, groups)
    assert list(loaded.splits) == list(prepared.splits)


@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_umask_is_honoured(mask: int, mode: int, tmp_path: Path, prepared: store.Prepared) -> None:
    before = os.umask(mask)
    try:
        store.save(tmp_path / "patients.arrow", prepared)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "patients.arrow").stat().st_mode) == mode


def test_damage_is_an_error_or_harmless(path: Path, prepared: store.Prepared) -> None:
    content = path.read_bytes()
    for part in (content[:300], b""):
        path.write_bytes(part)
        with pytest.raises(UserError, match=r"one\.arrow"):
            store.load(path)
    errors = 0
    for position in range(0, len(content), 67):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        try:
            loaded = store.load(path)
        except UserError:
            errors += 1
        else:
            require_equal(loaded, prepared)
    assert errors > 17


STORED_ROWS = 5000
LEVELS = tuple(f"{level:03}" for level in range(300))


def test_a_table_is_mapped_and_small(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    codes = generator.integers(0, len(LEVELS), STORED_ROWS)
    small = generator.integers(0, 256, STORED_ROWS)
    numbers = generator.normal(size=STORED_ROWS)
    single = numbers.astype(np.float32).astype(np.float64)
    single[::9] = np.nan
    values = np.column_stack([codes, small, single, numbers])
    columns = [Column(name, "continuous") for name in "abcy"]
    columns[0] = Column("a", "categorical", LEVELS)
    table = Table.from_values(columns, values, 3)
    assert [cells.dtype.name for cells in table.cells] == ["int16", "uint8", "float32", "float64"]
    path = tmp_path / "one.arrow"
    store.save(path, store.Prepared(table, {}, {}))
    assert path.stat().st_size < STORED_ROWS * (2 + 1 + 4 + 8) + 30_000
    loaded = store.load(path).table
    assert not any(cells.flags.owndata or cells.flags.writeable for cells in loaded.cells)
    assert np.array_equal(loaded.values, values, equal_nan=True)
    assert pd.read_feather(path)["a"].tolist() == [LEVELS[code] for code in codes]
