"""Prepared datasets on disk."""

import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.data import store
from npt.data.datasets import datasets
from npt.data.preparation import prepare_declared
from npt.errors import UserError
from npt.table import Column, Table


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
    for fold, split in prepared.splits.items():
        assert np.array_equal(loaded.splits[fold].part(), split.part())


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


ROWS = 5000
LEVELS = tuple(f"{level:03}" for level in range(300))


def test_a_table_is_mapped_and_small(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    codes = generator.integers(0, len(LEVELS), ROWS)
    small = generator.integers(0, 256, ROWS)
    numbers = generator.normal(size=ROWS)
    single = numbers.astype(np.float32).astype(np.float64)
    single[::9] = np.nan
    values = np.column_stack([codes, small, single, numbers])
    columns = [Column(name, "continuous") for name in "abcy"]
    columns[0] = Column("a", "categorical", LEVELS)
    table = Table.of(columns, values, 3)
    assert [cells.dtype.name for cells in table.cells] == ["int16", "uint8", "float32", "float64"]
    path = tmp_path / "one.arrow"
    store.save(path, store.Prepared(table, {}, {}))
    assert path.stat().st_size < ROWS * (2 + 1 + 4 + 8) + 30_000
    loaded = store.load(path).table
    assert not any(cells.flags.owndata or cells.flags.writeable for cells in loaded.cells)
    assert np.array_equal(loaded.values, values, equal_nan=True)
    assert pd.read_feather(path)["a"].tolist() == [LEVELS[code] for code in codes]
